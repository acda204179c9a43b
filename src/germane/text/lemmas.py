"""English base forms by rule: plurals to singulars, and verbs in -s, -ed and -ing to their infinitives.

This is a light lemmatiser, without a dictionary and without a part-of-speech tagger: it looks at the form of a word and
at nothing around it. A list of irregular forms comes first, then the rules of English spelling. Its results are words,
where those of a stemmer are beginnings of words ("studies" becomes "study", not "studi"); it joins inflections of one
word, and leaves apart words that derive from one another ("relate" and "relation", which Porter's stemmers join).
Known limits: a form that is both a noun and a verb is read as the verb ("building" becomes "build", "meeting"
"meet"), comparatives stay ("larger"), and a rare word may lose or gain a silent e. Words in other scripts, with
accents or with digits stay as they are.

Refine §X names "part-of-speech based morphological preprocessing" as future work; this is the part of it that needs no
other package.

>>> [lemma(word) for word in ("studies", "analyses", "mice", "hoping", "hopping", "controlled", "diabetes")]
['study', 'analysis', 'mouse', 'hope', 'hop', 'control', 'diabetes']
"""

import re
from collections.abc import Sequence
from functools import lru_cache

LEMMA = "lemma"
"""The name under which `germane.text.stemming` offers this."""

_IRREGULAR_LINES = """
    be: am is are was were been being
    have: has had having
    do: does did done doing
    go: goes went gone going
    undergo: undergoes underwent undergone
    take: took taken
    undertake: undertook undertaken
    give: gave given
    make: made
    find: found
    show: shown
    begin: began begun
    grow: grew grown
    know: knew known
    write: wrote written writing
    arise: arose arisen
    fall: fell fallen
    hold: held
    keep: kept
    lead: led
    lose: lost
    mean: meant
    meet: met
    pay: paid
    say: said
    see: seen
    send: sent
    sell: sold
    spend: spent
    speak: spoke spoken
    stand: stood
    understand: understood
    teach: taught
    tell: told
    win: won
    wear: wore worn
    draw: drew drawn
    drive: drove driven
    eat: ate eaten
    choose: chose chosen
    break: broke broken
    bring: brought
    build: built
    buy: bought
    catch: caught
    come: came coming
    become: became becoming
    overcome: overcame overcoming
    welcome: welcomed welcoming
    seek: sought
    sleep: slept
    feel: felt
    fight: fought
    forget: forgot forgotten
    freeze: froze frozen
    hide: hid hidden
    run: ran
    sing: sang sung
    sit: sat
    swim: swam swum
    die: dies died dying
    lie: lies lied lying
    tie: ties tied tying
    agree: agreed
    disagree: disagreed
    free: freed
    guarantee: guaranteed
    add: added adding adds
    err: erred erring errs
    breathe: breathed breathing
    bathe: bathed bathing
    guide: guided guiding
    excite: excited exciting
    invite: invited inviting
    cite: cited citing
    recite: recited reciting
    unite: united uniting
    ignite: ignited igniting
    quote: quoted quoting
    promote: promoted promoting
    denote: denoted denoting
    devote: devoted devoting
    complete: completed completing
    delete: deleted deleting
    compete: competed competing
    excrete: excreted excreting
    secrete: secreted secreting
    deplete: depleted depleting
    create: created creating
    recreate: recreated recreating
    delineate: delineated delineating
    explore: explored exploring
    restore: restored restoring
    ignore: ignored ignoring
    interfere: interfered interfering
    adhere: adhered adhering
    intervene: intervened intervening
    convene: convened convening
    postpone: postponed postponing
    hang: hanged hung hanging
    originate: originated originating
    focus: focused focusing focusses focuses foci
    bias: biased biasing biases
    combat: combated combating
    format: formatted formatting
    output: outputs
    enroll: enrolled enrolling
    install: installed installing
    recall: recalled recalling
    good: better best
    bad: worse worst
    man: men
    woman: women
    child: children
    person: people persons
    mouse: mice
    louse: lice
    foot: feet
    tooth: teeth
    goose: geese
    ox: oxen
    life: lives
    wife: wives
    knife: knives
    leaf: leaves
    half: halves
    self: selves
    calf: calves
    shelf: shelves
    wolf: wolves
    loaf: loaves
    thief: thieves
    bacterium: bacteria
    criterion: criteria
    phenomenon: phenomena
    medium: media
    ovum: ova
    serum: sera serums
    spectrum: spectra
    symposium: symposia
    mitochondrion: mitochondria
    atrium: atria
    ganglion: ganglia
    stratum: strata
    curriculum: curricula
    septum: septa
    stoma: stomata
    nucleus: nuclei
    locus: loci
    stimulus: stimuli
    fungus: fungi
    bacillus: bacilli
    embolus: emboli
    thrombus: thrombi
    bronchus: bronchi
    alumnus: alumni
    radius: radii
    index: indices indexes
    matrix: matrices
    vertex: vertices
    appendix: appendices
    cortex: cortices
    cervix: cervices
    helix: helices
    vortex: vortices
    axis: axes
    crisis: crises
    basis: bases
    diagnosis: diagnoses
    prognosis: prognoses
    stenosis: stenoses
    thrombosis: thromboses
    necrosis: necroses
    neurosis: neuroses
    psychosis: psychoses
    neoplasm: neoplasms
    gas: gases
    bus: buses
    lens: lenses
    atlas: atlases
    movie: movies
    cookie: cookies
    calorie: calories
    ache: aches ached aching
    headache: headaches
    toothache: toothaches
    cache: caches cached caching
    niche: niches
    shoe: shoes
    toe: toes
    diagnose: diagnosed diagnosing
"""
_IRREGULAR = {
    form: base
    for base, _, forms in (line.strip().partition(":") for line in _IRREGULAR_LINES.strip().splitlines())
    for form in forms.split()
}
_UNCHANGED_WORDS = """
    during morning evening ceiling sibling darling nothing something anything everything notwithstanding herring
    hundred sacred naked wicked kindred hatred biped indeed embed
    gas bus lens bias atlas pancreas whereas perhaps always sometimes series species news diabetes herpes rabies scabies
    caries measles mumps rickets feces faeces biceps triceps quadriceps forceps plus thus christmas texas kansas
    physics mathematics statistics economics politics ethics genetics genomics proteomics kinetics dynamics mechanics
    robotics linguistics obstetrics pediatrics paediatrics orthopedics orthopaedics informatics logistics
    reggae sundae access process
    """
_UNCHANGED = frozenset(_UNCHANGED_WORDS.split())

_VOWEL = re.compile("[aeiouy]")
_VOWELS = re.compile("[aeiouy]+")
_PLURALS = (
    (re.compile("(?<=[a-z]ly)ses$|(?<=the)ses$|(?<=sta)ses$"), "sis"),  # analyses, hypotheses, metastases
    (re.compile("(?<=[a-z]{2})ies$"), "y"),
    (re.compile("(?<=ss)es$|(?<=ch)es$|(?<=sh)es$|(?<=x)es$|(?<=zz)es$|(?<=o)es$|(?<=[rtnp]us)es$"), ""),
    (re.compile("(?<=[a-z]{3})ae$"), "a"),
    (re.compile("(?<=[^siu])s$"), ""),
)
_SILENT_E = re.compile(
    "(?:"
    "[vcuz]"  # achiev, reduc, argu, analyz
    "|(?<!s)s"  # caus, revers
    "|(?<!^b)(?<!^cl)ang|eng|ung"  # chang, challeng, plung
    "|[aeioudlr]g"  # manag, judg, indulg, merg
    "|[bcdfgkpstz]l"  # enabl, sampl
    ")$"
)
_SILENT_E_OF_LONG = re.compile(
    "(?:"
    "(?<![aeou])at|[iu]at|(?<![aeio])ut"  # activat, evaluat, comput; not treat
    "|(?<![aeo])[iu]r|(?<![aeiou])ar"  # requir, measur, compar; not repair, tour
    "|(?<![aeiou])in|(?<![aeiou])um|(?<![aeiou])un"  # determin, assum
    "|(?<![aeiou])[aeiou]d"  # degrad, conced, provid, explod, includ
    "|(?<![aeiou])ap|yp|(?<![aeiou])ib|(?<![aeiou])ok"  # escap, genotyp, describ, invok
    ")$"
)
_SHORT = re.compile("^[^aeiouy]*[aeiouy][^aeiouywx]$")
_DOUBLED = re.compile("([bdglmnprt])\\1$")


@lru_cache(maxsize=1 << 16)
def lemma(token: str) -> str:
    """The base form of one token, as the tokeniser gives it."""
    if token in _IRREGULAR:
        return _IRREGULAR[token]
    if len(token) < 4 or token in _UNCHANGED or not (token.isascii() and token.isalpha()):
        return token
    if token.endswith("ied"):
        return token[:-3] + "y"
    if token.endswith("ed") and not token.endswith("eed"):
        return _infinitive(token, token[:-2])
    if token.endswith("ing"):
        return _infinitive(token, token[:-3])
    for ending, base in _PLURALS:
        if ending.search(token):
            return ending.sub(base, token)
    return token


def lemmas(tokens: Sequence[str]) -> list[str]:
    """The base forms of tokens."""
    return [lemma(token) for token in tokens]


def _infinitive(token: str, stem: str) -> str:
    """What remains of a verb without -ed or -ing, spelt as a word again; the token if no verb can be left."""
    if len(stem) < 2 or not _VOWEL.search(stem):
        return token  # bring, shed
    if _DOUBLED.search(stem):
        several = len(_VOWELS.findall(stem)) > 1
        return stem[:-1] if stem[-1] != "l" or several else stem  # control, but call
    if _SHORT.match(stem) or _SILENT_E.search(stem):
        return stem + "e"
    several = len(_VOWELS.findall(stem)) > 1
    return stem + "e" if several and _SILENT_E_OF_LONG.search(stem) else stem
