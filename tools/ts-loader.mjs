// Runs TypeScript sources directly: `node --import ./tools/ts-loader.mjs file.ts`.
// Used by developer tools and by child processes of tests, so neither needs a build first.
import { register } from 'node:module';

register('./ts-hooks.mjs', import.meta.url);
