import type { Clock } from '@behalf/kernel';
import {
  credentialKey,
  isCurrent,
  type ChangeFeed,
  type CredentialKey,
  type CredentialRecord,
  type CredentialStore,
} from '../ports/index.ts';
import type { Principal } from '../principal/principal.ts';
import type { UserServer } from '../servers/definition.ts';
import { credentialHolder } from './credentialKeys.ts';
import { createLruMap } from './lruMap.ts';

const MAX_ENTRIES = 20_000;

export interface CredentialSelector {
  /**
   * At once while it is known. Undefined: this user never had one at this server; or, where a label names one, has none of that
   * label that was not ended.
   */
  select(
    server: Pick<UserServer, 'id'>,
    principal: Principal,
    label?: string,
  ): CredentialKey | undefined | Promise<CredentialKey | undefined>;
  close(): void;
}

interface CredentialSelectorParts {
  readonly store: Pick<CredentialStore, 'list'>;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}

/** What choosing needs of a record. */
type OwnCredential = CredentialKey &
  Pick<CredentialRecord, 'isDefault' | 'status' | 'rtHash' | 'tokenExpiresAt'>;

interface CacheEntry {
  readonly key: CredentialKey | undefined;
  readonly credentials: readonly OwnCredential[];
  readonly readAt: number;
}

/** Which of a user's credentials at a server is used when nobody says which. */
export function createCredentialSelector({
  store,
  changes,
  clock,
}: CredentialSelectorParts): CredentialSelector {
  const cache = createLruMap<CacheEntry>(MAX_ENTRIES);
  /** Counts notices: what was read before one may be what it told about. */
  let epoch = 0;

  const unsubscribe = changes.subscribe(({ topic, id }) => {
    if (topic !== 'credentials') return;
    epoch += 1;
    const cacheKey = toCacheKey(id);
    if (cacheKey === undefined) cache.clear();
    else cache.delete(cacheKey);
  });

  async function load(
    cacheKey: string,
    tenant: string,
    holder: string,
    serverId: string,
  ): Promise<CacheEntry> {
    const startEpoch = epoch;
    const readAt = clock.now();
    const credentials = (await store.list(tenant, holder, serverId))
      .filter(isUserCredential)
      .map(withoutTokens);
    const selected = selectCredential(credentials, readAt);
    const entry = { key: selected && credentialKey(selected), credentials, readAt };
    if (startEpoch === epoch) cache.set(cacheKey, entry);
    return entry;
  }

  return {
    select({ id: serverId }, principal, label) {
      // A program has nobody who could sign in.
      if (principal.kind !== 'user') return undefined;
      const holder = credentialHolder(principal);
      const cacheKey = JSON.stringify([principal.tenant, holder, serverId]);
      const cached = cache.get(cacheKey);
      if (cached && isCurrent(changes, clock.now(), cached.readAt)) return selectKey(cached, label);
      return load(cacheKey, principal.tenant, holder, serverId).then((entry) => selectKey(entry, label));
    },
    close() {
      unsubscribe();
      cache.clear();
    },
  };
}

/** Of a notice's id the part that names the place; undefined when it names none. */
function toCacheKey(id: string): string | undefined {
  if (!id.startsWith('[')) return undefined;
  const [tenant, principal, serverId] = JSON.parse(id) as string[];
  return JSON.stringify([tenant, principal, serverId]);
}

/** Whether anything can still be done with it, as far as its record says. */
export function isCredentialUsable(
  { status, rtHash, tokenExpiresAt }: Pick<CredentialRecord, 'status' | 'rtHash' | 'tokenExpiresAt'>,
  now: number,
): boolean {
  return status === 'active' && (rtHash !== null || tokenExpiresAt === null || now < tokenExpiresAt);
}

/**
 * The default one, also when it fails: no other account of its user takes its place unasked. But a token that was brought
 * stands before a sign-in that works only while it works itself. Where the default one was ended, sign-ins that work come
 * first, then tokens that were brought. What was ended stays known when nothing else is left: whoever had a credential is
 * never taken for somebody who never had one.
 */
export function selectCredential<T extends OwnCredential>(records: readonly T[], now: number): T | undefined {
  const candidates = records.filter(isUserCredential);
  const notRevoked = candidates.filter(({ status }) => status !== 'revoked');
  const defaultRecord = notRevoked.find(({ isDefault }) => isDefault);
  const usable = notRevoked.filter((record) => isCredentialUsable(record, now));
  const signIn = usable.find(({ kind }) => kind === 'oauth_code');
  if (
    defaultRecord &&
    !(defaultRecord.kind === 'static' && signIn && !isCredentialUsable(defaultRecord, now))
  )
    return defaultRecord;
  return (
    signIn ?? usable[0] ?? notRevoked[0] ?? candidates.find(({ isDefault }) => isDefault) ?? candidates[0]
  );
}

/** That one or none: of one label there is one that was not ended. */
function findByLabel(credentials: readonly OwnCredential[], label: string): CredentialKey | undefined {
  const match = credentials.find((record) => record.label === label && record.status !== 'revoked');
  return match && credentialKey(match);
}

function selectKey({ key, credentials }: CacheEntry, label: string | undefined): CredentialKey | undefined {
  return label === undefined ? key : findByLabel(credentials, label);
}

function isUserCredential({ kind }: Pick<CredentialKey, 'kind'>): boolean {
  return kind === 'oauth_code' || kind === 'static';
}

function withoutTokens(record: CredentialRecord): OwnCredential {
  const { isDefault, status, rtHash, tokenExpiresAt } = record;
  return { ...credentialKey(record), isDefault, status, rtHash, tokenExpiresAt };
}
