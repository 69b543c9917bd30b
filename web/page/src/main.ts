import "./style/tokens.css";
import "./style/base.css";
import "./style/shell.css";
import "./style/talk.css";
import "./style/text.css";
import "./registered.ts";
import "./shell/app.ts";
import { router } from "./route.ts";
import { themes } from "./shell/theme.ts";
import { startSession } from "./state/session.ts";
import { who } from "./state/who.ts";

themes.start();
void who.ask();
await startSession();
router.start();
document.body.append(document.createElement("sk-app"));
