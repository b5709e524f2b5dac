import type { Clock } from '@behalf/kernel';
import {
  credentialKey,
  type ChangeFeed,
  type CredentialKey,
  type CredentialRecord,
  type CredentialStore,
} from '../ports/index.ts';
import type { Principal } from '../principal/principal.ts';
import { createReplicatedCache } from '../replication/replicatedCache.ts';
import type { UserServer } from '../definitions/definition.ts';
import { credentialHolder } from '../principal/credentialHolder.ts';

const MAX_ENTRIES = 20_000;

interface CredentialSelectorParts {
  readonly store: Pick<CredentialStore, 'list'>;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}

/** The fields of a record that the selection needs. */
type OwnCredential = CredentialKey &
  Pick<CredentialRecord, 'isDefault' | 'status' | 'rtHash' | 'tokenExpiresAt'>;

interface Selection {
  readonly key: CredentialKey | undefined;
  readonly credentials: readonly OwnCredential[];
}

export type CredentialSelector = ReturnType<typeof createCredentialSelector>;

/** Selects which of a user's credentials a server receives. */
export function createCredentialSelector({ store, changes, clock }: CredentialSelectorParts) {
  const cache = createReplicatedCache<Selection>({
    ...{ changes, clock, maxEntries: MAX_ENTRIES },
    affectedBy({ topic, id }) {
      if (topic !== 'credentials') return undefined;
      if (!id.startsWith('[')) return 'all';
      const [tenant, principal, serverId] = JSON.parse(id) as string[];
      return { key: JSON.stringify([tenant, principal, serverId]) };
    },
  });

  async function load(tenant: string, holder: string, serverId: string): Promise<Selection> {
    const now = clock.now();
    const records = await store.list(tenant, holder, serverId);
    // The cache must not hold sealed tokens.
    const credentials = records.filter(isUserCredential).map((record) => {
      const { isDefault, status, rtHash, tokenExpiresAt } = record;
      return { ...credentialKey(record), isDefault, status, rtHash, tokenExpiresAt };
    });
    const selected = selectCredential(credentials, now);
    return { key: selected && credentialKey(selected), credentials };
  }

  /** With a label: that credential if it was not revoked, and no other. A label has at most one such credential. */
  function selectKey({ key, credentials }: Selection, label: string | undefined): CredentialKey | undefined {
    if (label === undefined) return key;
    const match = credentials.find((record) => record.label === label && record.status !== 'revoked');
    return match && credentialKey(match);
  }

  return {
    /** Synchronous while the cache is current. Undefined: this user never had a credential, or none with this label. */
    select(
      { id: serverId }: Pick<UserServer, 'id'>,
      principal: Principal,
      label?: string,
    ): CredentialKey | undefined | Promise<CredentialKey | undefined> {
      // Service principals cannot sign in.
      if (principal.kind !== 'user') return undefined;
      const { tenant } = principal;
      const holder = credentialHolder(principal);
      const cacheKey = JSON.stringify([tenant, holder, serverId]);
      const selection = cache.read(cacheKey, () => load(tenant, holder, serverId));
      return selection instanceof Promise
        ? selection.then((loaded) => selectKey(loaded, label))
        : selectKey(selection, label);
    },
    close: () => cache.close(),
  };
}

/** Whether the credential has a token that is valid or can be refreshed, according to its record. */
export function isCredentialUsable(
  { status, rtHash, tokenExpiresAt }: Pick<CredentialRecord, 'status' | 'rtHash' | 'tokenExpiresAt'>,
  now: number,
): boolean {
  return status === 'active' && (rtHash !== null || tokenExpiresAt === null || now < tokenExpiresAt);
}

/**
 * The default credential, even if it is unusable: the gateway does not switch to another account of the user by
 * itself. Exception: a sign-in replaces an imported default token that expired. If the default was revoked: a usable
 * sign-in, then a usable imported token, then any. If all were revoked, a revoked one, so that the user is not treated
 * as one who never signed in.
 */
export function selectCredential<T extends OwnCredential>(records: readonly T[], now: number): T | undefined {
  const candidates = records.filter(isUserCredential);
  const notRevoked = candidates.filter(({ status }) => status !== 'revoked');
  const defaultRecord = notRevoked.find(({ isDefault }) => isDefault);
  const usable = notRevoked.filter((record) => isCredentialUsable(record, now));
  const signIn = usable.find(({ kind }) => kind === 'oauth_code');
  const isExpiredImport = defaultRecord?.kind === 'static' && !isCredentialUsable(defaultRecord, now);
  if (defaultRecord && !(signIn && isExpiredImport)) return defaultRecord;
  return (
    signIn ?? usable[0] ?? notRevoked[0] ?? candidates.find(({ isDefault }) => isDefault) ?? candidates[0]
  );
}

function isUserCredential({ kind }: Pick<CredentialKey, 'kind'>): boolean {
  return kind === 'oauth_code' || kind === 'static';
}
