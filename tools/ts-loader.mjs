// Runs TypeScript sources without a build: `node --import ./tools/ts-loader.mjs file.ts`. For developer tools and
// child processes of tests.
import { register } from 'node:module';

register('./ts-hooks.mjs', import.meta.url);
