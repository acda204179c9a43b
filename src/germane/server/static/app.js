// The page works without this; each module enhances one thing.

import * as dial from "./dial.js";
import * as drop from "./drop.js";
import * as find from "./find.js";
import * as job from "./job.js";
import * as keys from "./keys.js";
import * as list from "./list.js";
import * as screen from "./screen.js";
import * as theme from "./theme.js";
import { tell } from "./net.js";

for (const part of [dial, drop, find, job, keys, list, screen, theme]) part.enhance();

// What was pressed before counts now, in its order.
const early = window.germaneEarly();
if (early.any) tell(early.lost);
for (const { key, target, form, button, files } of early) {
  if (key) keys.act(key, target);
  else if (form) form.requestSubmit(button);
  else drop.hand(files);
}
document.documentElement.dataset.ready = "";
