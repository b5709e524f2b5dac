import type { Clock, Keyring, Random } from '@behalf/kernel';
import type { RequirePermission } from '../access/requirePermission.ts';
import { canonicalizeUrl } from '../credentials/oauth/canonicalUrl.ts';
import type { ServerGrants } from '../credentials/oauth/serverGrants.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { toDraftSealContext, type DraftRecord, type DraftStore, type ServerStore } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Fields } from '../registry/canonicalFields.ts';
import { stableStringify } from '../registry/stableStringify.ts';
import type { UserServer } from '../registry/server.ts';
import { checkAccess, type AllowedServer } from '../toolcall/checkAccess.ts';
import { DRAFT_LIFETIME_MS, parseDraftName, MAX_DRAFTS, type ServerDraft } from './draft.ts';
import { openDraft } from './openDraft.ts';

/** Of what is left of one, so that a sign-in that begins now can still end. */
const MIN_REMAINING_MS = DRAFT_LIFETIME_MS / 3;
/** Clocks of replicas differ, and a server that is being made of one is not known everywhere at once. */
const GRACE_MS = 60 * 1000;
const SWEEP_BATCH_SIZE = 100;

/** What a draft is made of: an address and how it is spoken to. No credential ever stands in one. */
export interface DraftDefinition extends Fields {
  readonly type: string;
  readonly url: string;
  readonly title: string;
}

/** Servers that somebody looks at before saving them. Each is one user's, and for a quarter of an hour. */
export interface ServerDrafts {
  /** The one that this user has of this very definition, or a new one. */
  open(
    principal: UserPrincipal,
    definition: DraftDefinition,
  ): Promise<{ readonly draft: ServerDraft; readonly isNew: boolean }>;
  /** Their own, while it lasts. Null for anybody else's, for what is over and for what never was: told alike. */
  findOwn(principal: UserPrincipal, id: string): Promise<ServerDraft | null>;
  /** What `findServer` is for servers, by the name that it has in addresses: its user may go on, while they may create servers. */
  authorize(principal: UserPrincipal, name: string): Promise<AllowedServer<UserServer>>;
  /** As sign-ins and renewals see it, while it lasts and for a moment after a server was made of it. */
  get(tenant: string, id: string): Promise<UserServer | undefined>;
  /** Whether there is one of this id, whoever has it: for what is public about it. */
  exists(id: string): Promise<boolean>;
  /** For one caller: a server of its id is made next. False: it is over. */
  consume(draft: ServerDraft): Promise<boolean>;
  /** Of one that was taken and no server was made of: what was given for it is ended here and revoked, what is under way ends. */
  end(draft: ServerDraft): Promise<void>;
  /** The same of one that nobody takes any more. Where somebody has, what was given for it is their server's, and stays. */
  discard(draft: ServerDraft): Promise<void>;
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

export function createServerDrafts(parts: DraftParts): ServerDrafts {
  const { store, servers, grants, requirePermission, keyring, clock, random } = parts;

  const isOpen = ({ takenAt, expiresAt }: DraftRecord, now: number) => takenAt === null && now < expiresAt;

  async function findOwn({ tenant, userId }: UserPrincipal, id: string): Promise<ServerDraft | null> {
    const record = await store.find(tenant, id);
    if (record?.userId !== userId || !isOpen(record, clock.now())) return null;
    return openDraft(keyring, record);
  }

  async function findReusable(
    { tenant, userId }: UserPrincipal,
    definitionText: string,
    address: string,
  ): Promise<ServerDraft | undefined> {
    const now = clock.now();
    const candidates = (await store.listByUser(tenant, userId)).filter(
      (record) =>
        isOpen(record, now) && record.canonicalUrl === address && record.expiresAt - now > MIN_REMAINING_MS,
    );
    return candidates
      .flatMap((record) => openDraft(keyring, record) ?? [])
      .find(({ definition }) => stableStringify(definition) === definitionText);
  }

  const consume = ({ tenant, id, userId }: ServerDraft) => store.consume(tenant, id, userId, clock.now());

  async function end({ tenant, id, server }: ServerDraft): Promise<void> {
    await grants.removeAll(tenant, server);
    await store.remove(tenant, id);
  }

  return {
    findOwn,
    consume,
    end,
    async discard(draft) {
      if (await consume(draft)) await end(draft);
    },
    async open(principal, definition) {
      const address = canonicalizeUrl(definition.url);
      if (address === undefined) throw new GatewayError('MCP_CONFIG_INVALID');
      const existing = await findReusable(principal, stableStringify(definition), address);
      if (existing) return { draft: existing, isNew: false };
      const { tenant, userId } = principal;
      const id = random.id();
      const now = clock.now();
      const sealed = keyring.seal(JSON.stringify(definition), toDraftSealContext({ tenant, userId, id }));
      const record: DraftRecord = {
        ...{ id, tenant, userId, canonicalUrl: address, sealed },
        ...{ createdAt: now, expiresAt: now + DRAFT_LIFETIME_MS, takenAt: null },
      };
      const draft = openDraft(keyring, record);
      if (!draft) throw new GatewayError('MCP_CONFIG_INVALID');
      if ((await store.insert(record, MAX_DRAFTS)) === 'full') {
        throw new GatewayError('MCP_FLOW_LIMIT', { retryAfterMs: DRAFT_LIFETIME_MS });
      }
      return { draft, isNew: true };
    },
    async authorize(principal, name) {
      requirePermission()(principal, 'CREATE');
      const id = parseDraftName(name);
      const draft = id === undefined ? null : await findOwn(principal, id);
      // Whose it is was just asked; there are no rows about a draft that could say anything else.
      const access = { requirePermission, canSee: () => draft !== null };
      return checkAccess(
        access,
        principal,
        draft?.server,
        'MCP_SERVER_NOT_FOUND',
      ) as AllowedServer<UserServer>;
    },
    async get(tenant, id) {
      const record = await store.find(tenant, id);
      if (!record) return undefined;
      const now = clock.now();
      const isBeingSaved = record.takenAt !== null && now < record.takenAt + GRACE_MS;
      return isOpen(record, now) || isBeingSaved ? openDraft(keyring, record)?.server : undefined;
    },
    async exists(id) {
      const record = await store.findById(id);
      return record !== null && isOpen(record, clock.now());
    },
    async sweep() {
      for (const record of await store.listExpired(clock.now() - GRACE_MS, SWEEP_BATCH_SIZE)) {
        const { tenant, id } = record;
        const hasServer = (await servers.find(tenant, id)) !== null;
        const draft = hasServer ? null : openDraft(keyring, record);
        if (draft) {
          await end(draft);
          continue;
        }
        // One that does not open: without its row nobody would ever end what was given for it.
        if (!hasServer) await grants.removeWithoutDefinition(tenant, id);
        await store.remove(tenant, id);
      }
    },
  };
}
