import type { Clock, Keyring, Random } from '@behalf/kernel';
import type { RequirePermission } from '../access/requirePermission.ts';
import { canonicalizeUrl } from '../credentials/oauth/canonicalUrl.ts';
import type { ServerGrants } from '../credentials/oauth/serverGrants.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { draftContext, type DraftRecord, type DraftStore, type ServerStore } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Fields } from '../registry/canonical.ts';
import { stableText } from '../registry/stableText.ts';
import type { UserServer } from '../registry/server.ts';
import { checkAccess, type Allowed } from '../toolcall/checkAccess.ts';
import { DRAFT_MS, draftIdOf, MOST_DRAFTS, type Draft } from './draft.ts';
import { openDraft } from './openDraft.ts';

/** Of what is left of one, so that a sign-in that begins now can still end. */
const LEAST_LEFT_MS = DRAFT_MS / 3;
/** Clocks of replicas differ, and a server that is being made of one is not known everywhere at once. */
const GRACE_MS = 60 * 1000;
const AT_ONCE = 100;

/** What a draft is made of: an address and how it is spoken to. No credential ever stands in one. */
export interface DraftDefinition extends Fields {
  readonly type: string;
  readonly url: string;
  readonly title: string;
}

/** Servers that somebody looks at before saving them. Each is one user's, and for a quarter of an hour. */
export interface Drafts {
  /** The one that this user has of this very definition, or a new one. */
  open(
    principal: UserPrincipal,
    definition: DraftDefinition,
  ): Promise<{ readonly draft: Draft; readonly isNew: boolean }>;
  /** Their own, while it lasts. Null for anybody else's, for what is over and for what never was: told alike. */
  own(principal: UserPrincipal, id: string): Promise<Draft | null>;
  /** What `findServer` is for servers, by the name that it has in addresses: its user may go on, while they may create servers. */
  enter(principal: UserPrincipal, name: string): Promise<Allowed<UserServer>>;
  /** As sign-ins and renewals see it, while it lasts and for a moment after a server was made of it. */
  get(tenant: string, id: string): Promise<UserServer | undefined>;
  /** Whether there is one of this id, whoever has it: for what is public about it. */
  isKnown(id: string): Promise<boolean>;
  /** For one caller: a server of its id is made next. False: it is over. */
  take(draft: Draft): Promise<boolean>;
  /** Of one that was taken and no server was made of: what was given for it is ended here and revoked, what is under way ends. */
  end(draft: Draft): Promise<void>;
  /** The same of one that nobody takes any more. Where somebody has, what was given for it is their server's, and stays. */
  drop(draft: Draft): Promise<void>;
  /** Ends those whose time is up. What a server was made of is only forgotten. */
  sweep(): Promise<void>;
}

export interface DraftParts {
  readonly store: DraftStore;
  readonly servers: Pick<ServerStore, 'find'>;
  readonly grants: ServerGrants;
  readonly requirePermission: () => RequirePermission;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
}

export function createDrafts(parts: DraftParts): Drafts {
  const { store, servers, grants, requirePermission, keyring, clock, random } = parts;

  const isOpen = ({ takenAt, expiresAt }: DraftRecord, now: number) => takenAt === null && now < expiresAt;

  async function own({ tenant, userId }: UserPrincipal, id: string): Promise<Draft | null> {
    const record = await store.find(tenant, id);
    if (record?.userId !== userId || !isOpen(record, clock.now())) return null;
    return openDraft(keyring, record);
  }

  async function known(
    { tenant, userId }: UserPrincipal,
    wanted: string,
    place: string,
  ): Promise<Draft | undefined> {
    const now = clock.now();
    const fresh = (await store.listOf(tenant, userId)).filter(
      (record) =>
        isOpen(record, now) && record.canonicalUrl === place && record.expiresAt - now > LEAST_LEFT_MS,
    );
    return fresh
      .flatMap((record) => openDraft(keyring, record) ?? [])
      .find(({ definition }) => stableText(definition) === wanted);
  }

  const take = ({ tenant, id, userId }: Draft) => store.take(tenant, id, userId, clock.now());

  async function end({ tenant, id, server }: Draft): Promise<void> {
    await grants.removeAll(tenant, server);
    await store.remove(tenant, id);
  }

  return {
    own,
    take,
    end,
    async drop(draft) {
      if (await take(draft)) await end(draft);
    },
    async open(principal, definition) {
      const place = canonicalizeUrl(definition.url);
      if (place === undefined) throw new GatewayError('MCP_CONFIG_INVALID');
      const again = await known(principal, stableText(definition), place);
      if (again) return { draft: again, isNew: false };
      const { tenant, userId } = principal;
      const id = random.id();
      const now = clock.now();
      const sealed = keyring.seal(JSON.stringify(definition), draftContext({ tenant, userId, id }));
      const record: DraftRecord = {
        ...{ id, tenant, userId, canonicalUrl: place, sealed },
        ...{ createdAt: now, expiresAt: now + DRAFT_MS, takenAt: null },
      };
      const draft = openDraft(keyring, record);
      if (!draft) throw new GatewayError('MCP_CONFIG_INVALID');
      if ((await store.insert(record, MOST_DRAFTS)) === 'full') {
        throw new GatewayError('MCP_FLOW_LIMIT', { retryAfterMs: DRAFT_MS });
      }
      return { draft, isNew: true };
    },
    async enter(principal, name) {
      requirePermission()(principal, 'CREATE');
      const id = draftIdOf(name);
      const draft = id === undefined ? null : await own(principal, id);
      // Whose it is was just asked; there are no rows about a draft that could say anything else.
      const access = { requirePermission, sees: () => draft !== null };
      return checkAccess(access, principal, draft?.server, 'MCP_SERVER_NOT_FOUND') as Allowed<UserServer>;
    },
    async get(tenant, id) {
      const record = await store.find(tenant, id);
      if (!record) return undefined;
      const now = clock.now();
      const isBecoming = record.takenAt !== null && now < record.takenAt + GRACE_MS;
      return isOpen(record, now) || isBecoming ? openDraft(keyring, record)?.server : undefined;
    },
    async isKnown(id) {
      const record = await store.findById(id);
      return record !== null && isOpen(record, clock.now());
    },
    async sweep() {
      for (const record of await store.listExpired(clock.now() - GRACE_MS, AT_ONCE)) {
        const { tenant, id } = record;
        const isServer = (await servers.find(tenant, id)) !== null;
        const draft = isServer ? null : openDraft(keyring, record);
        if (draft) {
          await end(draft);
          continue;
        }
        // One that does not open: without its row nobody would ever end what was given for it.
        if (!isServer) await grants.removeWithoutDefinition(tenant, id);
        await store.remove(tenant, id);
      }
    },
  };
}
