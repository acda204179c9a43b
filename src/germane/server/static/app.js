// The page works without this; each module enhances one thing.

import * as dial from "./dial.js";
import * as drop from "./drop.js";
import * as find from "./find.js";
import * as job from "./job.js";
import * as keys from "./keys.js";
import * as list from "./list.js";
import * as screen from "./screen.js";
import * as theme from "./theme.js";

for (const part of [dial, drop, find, job, keys, list, screen, theme]) part.enhance();
