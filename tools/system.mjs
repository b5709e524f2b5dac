// What the tests can use of this machine beyond npm. Looked up here and nowhere else: `npm test`, the mutant runner and
// setup-system.sh must agree. Run as a command it prints the names of what is missing, one per line.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Name in BEHALF_TEST_REQUIRE, the variable tests read, and where to look. */
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

/** Every tool with its path, or an empty path when this machine has none. */
export function findTools(env = process.env) {
  const folders = (env.PATH ?? '').split(delimiter);
  return tools.map(({ name, variable, programs, choose }) => {
    // A path the caller chose is used or missing: falling back to another program would hide the typing error.
    const chosen = [variable, ...choose].map((key) => env[key]).find((value) => value);
    const candidates = chosen
      ? [chosen]
      : programs.flatMap((program) => folders.filter(Boolean).map((folder) => join(folder, program)));
    return { name, variable, program: programs[0], path: candidates.find(isExecutable) ?? '' };
  });
}

/** The variables through which tests learn what was found; empty means "not on this machine". */
export function toolVariables(found) {
  const variables = Object.fromEntries(found.map(({ variable, path }) => [variable, path]));
  // A Chrome under another name than `chromium` must be found by the tests as well, or they would skip unannounced.
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
