import { expect } from '@jest/globals';
import type { Audience } from '../src/index.ts';
import { createEgressRig, reasonOf, type EgressRigOptions } from './rig.ts';

/** What happens to one request; `dialled` when the guard let it through to the recording dialler. */
export async function requestOutcome(
  url: string,
  options: EgressRigOptions = {},
  audience: Audience = 'user-server',
): Promise<string> {
  const { egress, dials } = createEgressRig(options);
  const reason = await reasonOf(egress.fetchFor({ audience })(url));
  const wasDialed = reason === 'connection_failed' && dials.length > 0;
  if (!wasDialed) expect(dials).toEqual([]);
  return wasDialed ? 'dialled' : reason;
}

export const resolveEveryName = (addresses: readonly string[]) =>
  new Proxy<Record<string, readonly string[]>>({}, { get: () => addresses });
