import { createSavedBlocks, type Log, type RunBlockParts, type SaveBlockParts } from '@behalf/gateway';
import type { PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Keyring, Random } from '@behalf/kernel';
import type { ComposedAccess } from './composeAccess.ts';
import type { Servers } from './composeServers.ts';
import type { Vault } from './composeVault.ts';

export interface ComposeBlocksParts {
  clock: Clock;
  random: Random;
  keyring: Keyring;
  log: Log;
  primary: PrimaryStore;
  access: Pick<ComposedAccess, 'acl' | 'roles' | 'audit'>;
  servers: Pick<Servers, 'callParts' | 'registry' | 'status' | 'subjects'>;
  vault: Pick<Vault, 'vault'>;
}

/** Tools that people saved with inputs. */
export function composeBlocks(parts: ComposeBlocksParts): SaveBlockParts & RunBlockParts {
  const { clock, random, keyring, log, primary, access, servers, vault } = parts;
  const { acl, roles, audit } = access;
  return {
    ...{ acl, roles, audit, clock, random },
    blocks: createSavedBlocks({ store: primary.blocks, keyring, log }),
    registry: servers.registry,
    users: primary.users,
    // Those of the store that is written, as for servers.
    leases: primary.leases,
    callParts: servers.callParts,
    readinessParts: {
      ...{ vault: vault.vault, variables: servers.status.variables, subjects: servers.subjects, clock },
    },
  };
}
