import { librechatSecrets } from './librechatVariables.ts';
import type { Variable } from './variable.ts';
import { envVariables } from './variables.ts';

/**
 * Variables that `${...}` in the YAML never reaches. A header of some server is no place for the keys of the gateway
 * itself, and whoever may edit the file must not thereby be able to send them away.
 */
export const secretVariableNames: ReadonlySet<string> = new Set([
  ...librechatSecrets,
  ...Object.entries<Variable>(envVariables)
    .filter(([, variable]) => variable.secret)
    .flatMap(([name, { alias }]) => (alias === undefined ? [name] : [name, alias])),
  // Read next to the other proxy variables, by those who dial.
  'ALL_PROXY',
  'all_proxy',
]);
