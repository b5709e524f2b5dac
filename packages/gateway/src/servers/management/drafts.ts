import type { Clock, Keyring, Random } from '@behalf/kernel';
import { type AllowedServer, checkAccess } from '../../access/allowedServer.ts';
import type { RequirePermission } from '../../access/roles.ts';
import { canonicalizeUrl } from '../../credentials/oauth/addresses.ts';
import { userCredentialKey } from '../../credentials/oauthTokens.ts';
import type { OAuthServices } from '../../credentials/signin/createOAuthServices.ts';
import type { ServerGrants } from '../../credentials/signin/serverGrants.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import {
  type CredentialStore,
  type DraftRecord,
  type DraftStore,
  type OAuthFlowStore,
  type ServerStore,
  toDraftSealContext,
} from '../../ports/index.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import {
  DRAFT_LIFETIME_MS,
  MAX_DRAFTS,
  type ServerDraft,
  type UserServer,
  parseDraftName,
  toDraftName,
} from '../definition.ts';
import { type Fields, stableStringify } from '../fields.ts';
import { compileStored } from '../stored.ts';
import { toUserServer } from './validate.ts';

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

interface DraftParts {
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

/** Null where it does not open, or what is in it would not be taken today. */
function openDraft(keyring: Keyring, record: DraftRecord): ServerDraft | null {
  const { id, tenant, userId, canonicalUrl, createdAt, expiresAt } = record;
  const definition = readDefinition(keyring, record);
  if (!definition) return null;
  const name = toDraftName(id);
  // By its own name only here: as a definition that somebody sends, no such name is taken.
  const compiled = compileStored('draft', definition);
  if (!compiled.ok) return null;
  const server = toUserServer({ ...compiled.server, name }, { id, tenant, author: userId });
  return { id, tenant, userId, canonicalUrl, definition, server, createdAt, expiresAt };
}

function readDefinition(keyring: Keyring, record: DraftRecord): Fields | null {
  try {
    return JSON.parse(keyring.open(record.sealed, toDraftSealContext(record))) as Fields;
  } catch {
    return null;
  }
}

/** What making a server of a draft needs. */
export interface AdoptDraftParts {
  readonly drafts: Pick<ServerDrafts, 'findOwn' | 'consume' | 'end' | 'discard'>;
  readonly records: Pick<CredentialStore, 'find'>;
  readonly flows: Pick<OAuthFlowStore, 'removeByUser'>;
  readonly oauth: Pick<OAuthServices, 'isGrantForServer'>;
}

/** The draft that somebody saves, and whether its sign-in fits what they save. */
interface DraftMatch {
  readonly draft: ServerDraft;
  readonly isGrantReusable: boolean;
}

/**
 * Whether the sign-in of a draft is one for the server that is saved: the same user, canonical address, issuer, client and resource,
 * all of it found out anew. Undefined where there is no such draft of theirs, or its time is up.
 */
export async function matchDraft(
  { drafts, records, oauth }: AdoptDraftParts,
  principal: UserPrincipal,
  draftId: string,
  server: UserServer,
): Promise<DraftMatch | undefined> {
  const draft = await drafts.findOwn(principal, draftId);
  if (!draft) return undefined;
  const credential = await records.find(userCredentialKey(draft.server, principal, 'oauth_code'));
  if (credential?.status !== 'active' || credential.canonicalUrl !== draft.canonicalUrl)
    return { draft, isGrantReusable: false };
  // As it will be saved: under the id of the draft.
  return { draft, isGrantReusable: await oauth.isGrantForServer({ ...server, id: draft.id }, credential) };
}

/**
 * Makes a server, of the draft where its sign-in fits and nobody else was faster. `consumeDraftId`: the id that the server gets then. What was
 * given is bound to that id, so nothing is moved, opened or sealed anew: there is one copy at every moment, and it belongs to the draft,
 * then to the server. What is not kept is ended, and no sign-in at the draft goes on.
 */
export async function createFromDraft<T>(
  parts: Pick<AdoptDraftParts, 'drafts' | 'flows'>,
  draftMatch: DraftMatch | undefined,
  create: (consumeDraftId: () => Promise<string | undefined>) => Promise<T>,
): Promise<{ readonly created: T; readonly isGrantReused: boolean }> {
  let consumedDraftId: string | undefined;
  const consumeDraftId = async () => {
    if (draftMatch?.isGrantReusable && (await parts.drafts.consume(draftMatch.draft)))
      consumedDraftId = draftMatch.draft.id;
    return consumedDraftId;
  };
  try {
    const created = await create(consumeDraftId);
    if (draftMatch)
      await ignoreErrors(
        consumedDraftId === undefined
          ? parts.drafts.discard(draftMatch.draft)
          : removeFlows(parts, draftMatch.draft),
      );
    return { created, isGrantReused: consumedDraftId !== undefined };
  } catch (error) {
    // One that was taken for nothing is over. Any other can be saved again, with what was wrong put right.
    if (draftMatch && consumedDraftId !== undefined) await ignoreErrors(parts.drafts.end(draftMatch.draft));
    throw error;
  }
}

/** Whoever is still on the way to the draft's callback begins anew, at the server. */
function removeFlows(
  { flows }: Pick<AdoptDraftParts, 'flows'>,
  { tenant, userId, id }: ServerDraft,
): Promise<unknown> {
  return flows.removeByUser(tenant, userId, id);
}

/** What fails here changes nothing of the server; the sweep ends what is left. */
async function ignoreErrors(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}
