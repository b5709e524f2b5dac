import { egress } from './requirements/egress.ts';
import { foundation } from './requirements/foundation.ts';
import { identity } from './requirements/identity.ts';
import { kernel } from './requirements/kernel.ts';
import { settings } from './requirements/settings.ts';
import { stores } from './requirements/stores.ts';
import { upstream } from './requirements/upstream.ts';

/** `done`: kept by at least one test. `planned`: promised, not yet built. */
export type Requirement = readonly [status: 'done' | 'planned', promise: string];

/** Every behaviour Behalf promises, by id. One file per area; test/requirements.test.ts holds them to account. */
export const requirements: Readonly<Record<string, Requirement>> = {
  ...kernel,
  ...identity,
  ...upstream,
  ...egress,
  ...settings,
  ...stores,
  ...foundation,
};
