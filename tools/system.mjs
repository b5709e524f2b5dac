// The programs that tests use in addition to npm packages. `npm test`, the mutant runner and setup-system.sh use
// this list. As a command, it prints the names of missing programs, one per line.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The name in BEHALF_TEST_REQUIRE, the variable that tests read, and the candidates. */
const tools = [
  {
    name: 'redis',
    variable: 'BEHALF_TEST_REDIS',
    programs: ['redis-server'],
    choose: [],
  },
  {
    name: 'chromium',
    variable: 'BEHALF_TEST_CHROMIUM',
    programs: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    choose: ['CHROMIUM_PATH'],
  },
];

/** Finds all programs; the path is empty if one is missing. */
export function findTools(env = process.env) {
  const folders = (env.PATH ?? '').split(delimiter);
  return tools.map(({ name, variable, programs, choose }) => {
    // An explicit path is used or reported missing. A fallback to another program would hide a typing error.
    const chosen = [variable, ...choose].map((key) => env[key]).find((value) => value);
    const candidates = chosen
      ? [chosen]
      : programs.flatMap((program) => folders.filter(Boolean).map((folder) => join(folder, program)));
    return { name, variable, program: programs[0], path: candidates.find(isExecutable) ?? '' };
  });
}

/** Passes the found paths to tests. Empty means missing. */
export function toolVariables(found) {
  const variables = Object.fromEntries(found.map(({ variable, path }) => [variable, path]));
  // Tests must also find a Chrome that is not named `chromium`.
  return { ...variables, CHROMIUM_PATH: variables.BEHALF_TEST_CHROMIUM };
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { name, path } of findTools()) if (!path) process.stdout.write(`${name}\n`);
}
