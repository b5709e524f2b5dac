import type { Clock } from '@behalf/kernel';
import type { Acl } from '../access/acl.ts';
import type { SubjectSource } from '../credentials/obo/subject.ts';
import type { UserVariables } from '../credentials/userVariables.ts';
import type { CredentialVault } from '../credentials/vault/vault.ts';
import type { Registry } from '../registry/registry.ts';
import type { ReadSavedParts, WriteSavedParts } from '../saved/parts.ts';
import type { CallParts } from '../toolcall/callTool.ts';
import type { ListToolsParts } from '../toolcall/listTools.ts';
import type { SavedBlocks } from './sealedBlocks.ts';

/** What reading about blocks needs. */
export interface ReadBlockParts extends ReadSavedParts {
  readonly blocks: SavedBlocks;
  readonly acl: Pick<Acl, 'canUse' | 'getSavedBits' | 'listSavedBits'>;
  readonly registry: Pick<Registry, 'get'>;
}

/** What saving and sharing them needs. */
export interface SaveBlockParts extends Omit<ReadBlockParts, 'acl' | 'roles'>, WriteSavedParts {
  /** How the caller's tools are listed, and values checked against a schema. */
  readonly callParts: CallParts & ListToolsParts;
}

/** How it stands with the caller's own credentials, without opening or renewing any. */
export interface CredentialReadinessParts {
  readonly vault: Pick<CredentialVault, 'list'>;
  readonly variables: Pick<UserVariables, 'readSetFlags'>;
  /** Whether the caller has a sign-in of their own that could be exchanged. */
  readonly subjects: Pick<SubjectSource, 'checkSubject'>;
  readonly clock: Clock;
}

/** What running and checking them needs. */
export interface RunBlockParts extends ReadBlockParts {
  readonly acl: Pick<Acl, 'canUse' | 'getSavedBits' | 'listSavedBits' | 'getManageBits'>;
  readonly registry: Pick<Registry, 'get' | 'origin'>;
  readonly callParts: CallParts & ListToolsParts;
  readonly readinessParts: CredentialReadinessParts;
}
