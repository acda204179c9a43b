"""Stop lists by name, in the form our tokeniser emits: lower case, apostrophes gone ("dont"), possessives cut.

"english" holds function words only, and leaves out those that are also names or common nouns in queries ("us", "may",
"mine"), as well as contractions that collide with a word ("he'll", "we'll", "she'd"). "lucene" is the 33-word list
of Lucene's EnglishAnalyzer. The other lists are modest, function words in the spirit of Snowball's, not copies of them.
"""

from germane.errors import ParameterError

_WORDS = {
    "none": "",
    "english": """
        a an the this that these those
        i me my myself we our ours ourselves you your yours yourself yourselves
        he him his himself she her hers herself it its itself they them their theirs themselves
        who whom whose which what
        am is are was were be been being have has had having do does did doing
        will would should can could
        and but or nor if because as until while than then so
        of at by for with about into through during before after to from in on between
        when where why how there here
        not no only very also just both each such any some all
        im ive youre youve weve theyre theyve
        arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt shouldnt wasnt werent wont wouldnt
    """,
    "lucene": """
        a an and are as at be but by for if in into is it no not of on or such that the their then there these they
        this to was will with
    """,
    "french": """
        le la les un une des du de au aux ce cet cette ces
        je tu il elle on nous vous ils elles me te se lui leur eux moi toi soi
        mon ma mes ton ta tes son sa ses notre nos votre vos leurs
        qui que quoi dont où quel quelle quels quelles
        et ou mais donc or ni car si comme
        à dans par pour sur sous avec sans chez vers entre en y
        ne pas plus
        suis es est sommes êtes sont étais était étions étiez étaient été être fut furent sera seront serait seraient
        ai as avons avez ont avais avait avions aviez avaient eu avoir aura auront aurait auraient
        cest dun dune jai lon nest quil quils quon quun quune sest
    """,
    "german": """
        der die das den dem des ein eine einen einem einer eines
        ich du er sie es wir ihr mich dich ihn uns euch mir dir ihm ihnen sich
        mein meine meinen meinem meiner meines dein deine deinen deinem deiner deines
        sein seine seinen seinem seiner seines ihre ihren ihrem ihrer ihres unser unsere unseren unserem unserer
        dieser diese dieses diesen diesem jener jene jenes jenen jenem welcher welche welches welchen welchem
        kein keine keinen keinem keiner keines
        wer was wo wie wann warum
        und oder aber denn sondern wenn als ob dass weil damit
        an am auf aus bei beim bis durch für gegen hinter im in ins mit nach ohne über um unter vom von vor zu zum zur
        zwischen während
        bin bist ist sind seid war waren wäre wären gewesen
        habe hast hat haben hatte hatten werde wird werden wurde wurden würde würden worden
        kann können konnte konnten muss müssen musste soll sollte will wollen wollte
        nicht nur auch noch schon so sehr da dort hier dann
    """,
    "spanish": """
        el la los las lo un una unos unas al del
        yo tú él ella ello nosotros nosotras vosotros ellos ellas usted ustedes me te se le les nos os mí ti
        mi mis tu tus su sus nuestro nuestra nuestros nuestras vuestro vuestra
        este esta esto estos estas ese esa eso esos esas aquel aquella aquello aquellos aquellas
        que qué quien quién quienes cual cuál cuales cuyo cuya donde dónde cuando cuándo como cómo
        y e o u ni pero sino si porque pues aunque
        a ante bajo con contra de desde durante en entre hacia hasta para por según sin sobre tras
        no ya muy también más
        soy eres es somos son era eras eran fue fueron sea sean ser sido
        estoy está están estaba estaban estar
        he has ha hemos han había habían haber hay
    """,
    "italian": """
        il lo la i gli le l un uno una
        del dello della dei degli delle al allo alla ai agli alle dal dallo dalla dai dagli dalle
        nel nello nella nei negli nelle sul sullo sulla sui sugli sulle col coi
        io tu lui lei noi voi loro mi ti ci vi si me te se ne
        mio mia miei mie tuo tua tuoi tue suo sua suoi sue nostro nostra nostri nostre vostro vostra vostri vostre
        questo questa questi queste quello quella quelli quelle
        che chi cui quale quali dove quando come perché
        e ed o ma anche né se non più
        a ad di da in con su per tra fra
        sono sei è siamo siete era erano fu furono essere stato stata stati state sia siano sarà saranno
        ho hai ha abbiamo avete hanno aveva avevano avere
    """,
    "portuguese": """
        o a os as um uma uns umas
        ao aos à às do da dos das no na nos nas pelo pela pelos pelas num numa
        eu tu ele ela nós vós eles elas você vocês me te se lhe lhes mim
        meu minha meus minhas teu tua teus tuas seu sua seus suas nosso nossa nossos nossas
        este esta estes estas isto esse essa esses essas isso aquele aquela aqueles aquelas aquilo
        que quem qual quais cujo cuja onde quando como
        e ou nem mas se porque
        de em por para com sem sob sobre entre até
        não já muito também mais
        sou és é somos são era eram foi foram seja sejam ser sido
        estou está estão estava estavam estar
        tenho tem têm tinha tinham ter há havia haver
    """,
    "dutch": """
        de het een der des den
        ik jij je u hij zij ze wij we jullie mij me jou hem haar ons hen hun zich
        mijn jouw uw zijn onze
        deze dit die dat
        wie wat waar wanneer hoe waarom welke welk
        en of maar want als dan omdat toen dus
        aan achter bij door in met na naar om onder op over te tegen tot tussen uit van voor zonder
        er hier daar
        niet geen ook nog al zo
        ben bent is was waren geweest wezen
        heb hebt heeft hebben had hadden
        word wordt worden werd werden geworden
        kan kunnen kon konden zal zullen zou zouden moet moeten
    """,
    "swedish": """
        en ett den det de
        jag du han hon vi ni mig dig honom henne oss er dem sig
        min mitt mina din ditt dina hans hennes dess vår vårt våra ert era deras sin sitt sina
        denna detta dessa
        som vad vem vilken vilket vilka vars var när hur varför där här
        och eller men om att så då än
        av efter från för före genom i in inom med mellan mot på till under upp ur ut utan vid åt över
        inte ej nu bara också
        är varit vara bli blir blev blivit
        har hade ha haft
        kan kunde ska skall skulle måste
    """,
}

STOP_LISTS = {name: frozenset(words.split()) for name, words in _WORDS.items()}
"""Every stop list, by name."""


def stop_list(name: str) -> frozenset[str]:
    """The list of that name; `ParameterError`, with the names there are, for any other.

    >>> "the" in stop_list("english"), "system" in stop_list("english")
    (True, False)
    """
    if name not in STOP_LISTS:
        raise ParameterError(f"unknown stop list {name!r}; valid names: {', '.join(STOP_LISTS)}, or a tuple of words")
    return STOP_LISTS[name]
