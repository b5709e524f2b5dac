import { expect } from '@jest/globals';
import type { Audience } from '../src/index.ts';
import { createRig, reasonOf, type RigOptions } from './rig.ts';

/** What happens to one request; `dialled` when the guard let it through to the recording dialler. */
export async function verdict(
  url: string,
  options: RigOptions = {},
  audience: Audience = 'user-server',
): Promise<string> {
  const { egress, dialled } = createRig(options);
  const reason = await reasonOf(egress.fetchFor({ audience })(url));
  const passed = reason === 'connection_failed' && dialled.length > 0;
  if (!passed) expect(dialled).toEqual([]);
  return passed ? 'dialled' : reason;
}

export const everyName = (addresses: readonly string[]) =>
  new Proxy<Record<string, readonly string[]>>({}, { get: () => addresses });
