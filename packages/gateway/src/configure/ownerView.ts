import { ALL_ACL_BITS, hasAclBit, type NamedServerView } from '@behalf/contracts';
import type { ServerSettings } from '@behalf/settings';
import type { StoredDefinition } from '../registry/storedServers.ts';
import { toUserServer } from './requireReachable.ts';
import { toServerView } from './serverView.ts';

/** The answer to who has just created or changed a server. */
export function toOwnerView(
  settings: ServerSettings,
  stored: StoredDefinition,
  bits: number = ALL_ACL_BITS,
): NamedServerView {
  const view = toServerView(toUserServer({ ...settings, name: stored.name }, stored), stored, {
    bits,
    isEditor: hasAclBit(bits, 'EDIT'),
  });
  return { serverName: stored.name, ...view };
}
