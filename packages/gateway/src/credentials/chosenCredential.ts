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
import type { UserServer } from '../registry/server.ts';
import { credentialHolder } from './credentialHolder.ts';
import { createRecent } from './recent.ts';

const MOST_REMEMBERED = 20_000;

export interface ChosenCredentials {
  /**
   * At once while it is known. Undefined: this user never had one at this server; or, where a label names one, has none of that
   * label that was not ended.
   */
  of(
    server: Pick<UserServer, 'id'>,
    principal: Principal,
    label?: string,
  ): CredentialKey | undefined | Promise<CredentialKey | undefined>;
  close(): void;
}

export interface ChosenCredentialParts {
  readonly store: Pick<CredentialStore, 'list'>;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}

/** What choosing needs of a record. */
type Own = CredentialKey & Pick<CredentialRecord, 'isDefault' | 'status' | 'rtHash' | 'tokenExpiresAt'>;

interface Remembered {
  readonly key: CredentialKey | undefined;
  readonly own: readonly Own[];
  readonly readAt: number;
}

/** Which of a user's credentials at a server is used when nobody says which. */
export function createChosenCredentials({ store, changes, clock }: ChosenCredentialParts): ChosenCredentials {
  const known = createRecent<Remembered>(MOST_REMEMBERED);
  /** Counts notices: what was read before one may be what it told about. */
  let epoch = 0;

  const leave = changes.subscribe(({ topic, id }) => {
    if (topic !== 'credentials') return;
    epoch += 1;
    const place = placeOf(id);
    if (place === undefined) known.clear();
    else known.delete(place);
  });

  async function read(place: string, tenant: string, holder: string, serverId: string): Promise<Remembered> {
    const begun = epoch;
    const readAt = clock.now();
    const own = (await store.list(tenant, holder, serverId)).filter(isOwn).map(withoutTokens);
    const chosen = preferred(own, readAt);
    const read = { key: chosen && credentialKey(chosen), own, readAt };
    if (begun === epoch) known.set(place, read);
    return read;
  }

  return {
    of({ id: serverId }, principal, label) {
      // A program has nobody who could sign in.
      if (principal.kind !== 'user') return undefined;
      const holder = credentialHolder(principal);
      const place = JSON.stringify([principal.tenant, holder, serverId]);
      const found = known.get(place);
      if (found && isCurrent(changes, clock.now(), found.readAt)) return chosenOf(found, label);
      return read(place, principal.tenant, holder, serverId).then((all) => chosenOf(all, label));
    },
    close() {
      leave();
      known.clear();
    },
  };
}

/** Of a notice's id the part that names the place; undefined when it names none. */
function placeOf(id: string): string | undefined {
  if (!id.startsWith('[')) return undefined;
  const [tenant, principal, serverId] = JSON.parse(id) as string[];
  return JSON.stringify([tenant, principal, serverId]);
}

/** Whether anything can still be done with it, as far as its record says. */
export function isAlive(
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
export function preferred<T extends Own>(all: readonly T[], now: number): T | undefined {
  const own = all.filter(isOwn);
  const living = own.filter(({ status }) => status !== 'revoked');
  const chosen = living.find(({ isDefault }) => isDefault);
  const working = living.filter((record) => isAlive(record, now));
  const signIn = working.find(({ kind }) => kind === 'oauth_code');
  if (chosen && !(chosen.kind === 'static' && signIn && !isAlive(chosen, now))) return chosen;
  return signIn ?? working[0] ?? living[0] ?? own.find(({ isDefault }) => isDefault) ?? own[0];
}

/** That one or none: of one label there is one that was not ended. */
function named(own: readonly Own[], label: string): CredentialKey | undefined {
  const chosen = own.find((each) => each.label === label && each.status !== 'revoked');
  return chosen && credentialKey(chosen);
}

function chosenOf({ key, own }: Remembered, label: string | undefined): CredentialKey | undefined {
  return label === undefined ? key : named(own, label);
}

function isOwn({ kind }: Pick<CredentialKey, 'kind'>): boolean {
  return kind === 'oauth_code' || kind === 'static';
}

function withoutTokens(record: CredentialRecord): Own {
  const { isDefault, status, rtHash, tokenExpiresAt } = record;
  return { ...credentialKey(record), isDefault, status, rtHash, tokenExpiresAt };
}
