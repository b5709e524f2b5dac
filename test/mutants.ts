import { egress } from './mutants/egress.ts';
import { foundation } from './mutants/foundation.ts';
import { identity } from './mutants/identity.ts';
import { kernel } from './mutants/kernel.ts';
import { settings } from './mutants/settings.ts';
import { sqliteRedis } from './mutants/sqliteRedis.ts';
import { stores } from './mutants/stores.ts';
import { upstream } from './mutants/upstream.ts';

/** A one-line change to the code that must turn the tests of `id` red. `find` occurs exactly once in `file`. */
export interface Mutant {
  id: string;
  file: string;
  find: string;
  replace: string;
}

/** What proves that the tests of a security or race promise can fail. One file per area. */
export const mutants: readonly Mutant[] = [
  ...kernel,
  ...identity,
  ...upstream,
  ...egress,
  ...settings,
  ...stores,
  ...sqliteRedis,
  ...foundation,
];
