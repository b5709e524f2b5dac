// `npm start`: builds if stale, then runs the gateway in this process, so that signals and the exit code are
// direct.
import { fileURLToPath } from 'node:url';
import { ensureBuiltOrExit } from './build.mjs';

await ensureBuiltOrExit();

const main = new URL('../api/dist/main.js', import.meta.url);
process.argv[1] = fileURLToPath(main);
await import(main.href);
