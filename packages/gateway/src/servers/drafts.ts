import { type Clock, type Keyring, type Random, stableStringify } from '@behalf/kernel';
import { type AllowedServer, checkAccess } from '../access/allowedServer.ts';
import type { RequirePermission } from '../access/roles.ts';
import { canonicalizeUrl } from '../credentials/oauth/addresses.ts';
import { userCredentialKey } from '../credentials/oauthTokens.ts';
import type { OAuthServices } from '../credentials/signin/createOAuthServices.ts';
import type { ServerGrants } from '../credentials/signin/serverGrants.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import {
  type CredentialStore,
  type DraftRecord,
  type DraftStore,
  type OAuthFlowStore,
  type ServerStore,
  toDraftSealContext,
} from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { type UserServer, parseDraftName, toDraftName } from '../definitions/definition.ts';
import type { Fields } from './fields.ts';
import { compileStored, toUserServer } from './validate.ts';

/** Enough time to sign in and look at the tools before saving. */
const DRAFT_LIFETIME_MS = 15 * 60 * 1000;
/** Drafts per user. A form needs one at a time. */
const MAX_DRAFTS = 10;
/** A draft is reused only if a sign-in that starts now can still complete. */
const MIN_REMAINING_MS = DRAFT_LIFETIME_MS / 3;
/** Covers clock differences between replicas and the delay until a new server is in every registry. */
const GRACE_MS = 60 * 1000;
const SWEEP_BATCH_SIZE = 100;

/** An unsaved server on which its user can sign in. */
export interface ServerDraft {
  /** A server that is saved from the draft takes this id, and with it the grant. */
  readonly id: string;
  readonly tenant: string;
  readonly userId: string;
  readonly canonicalUrl: string;
  readonly definition: Fields;
  /** Used by sign-ins. It is not in the registry, so calls, lists and grants cannot name it. */
  readonly server: UserServer;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** The address and transport of a draft. Contains no credential. */
export interface DraftDefinition extends Fields {
  readonly type: string;
  readonly url: string;
  readonly title: string;
}

/** The drafts. Each belongs to one user and expires after 15 minutes. */
export interface ServerDrafts {
  /** Returns the user's draft with an equal definition, or creates one. */
  open(
    principal: UserPrincipal,
    definition: DraftDefinition,
  ): Promise<{ readonly draft: ServerDraft; readonly isNew: boolean }>;
  /** The user's open draft. Null for drafts of other users, expired drafts and unknown ids. */
  findOwn(principal: UserPrincipal, id: string): Promise<ServerDraft | null>;
  /** Like `findServer`, by the draft's name in URLs. Requires the permission CREATE. */
  authorize(principal: UserPrincipal, name: string): Promise<AllowedServer<UserServer>>;
  /** For sign-ins and token refreshes. Also returns a consumed draft until the new server is in every registry. */
  get(tenant: string, id: string): Promise<UserServer | undefined>;
  /** Whether any user has an open draft with this id. For public client metadata documents. */
  exists(id: string): Promise<boolean>;
  /** Claims the draft before a server with its id is created. Exactly one caller succeeds. */
  consume(draft: ServerDraft): Promise<boolean>;
  /** Removes a consumed draft from which no server was created. Revokes its grants and cancels its flows. */
  end(draft: ServerDraft): Promise<void>;
  /** Removes a draft unless it was consumed: then its grants belong to the new server. */
  discard(draft: ServerDraft): Promise<void>;
  /** Removes expired drafts. If a server was created from a draft, its grants stay. */
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
      // `findOwn` checks the owner. Drafts have no ACL rows.
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
        // The draft cannot be decrypted. Its grants are removed by id, because no other code knows them.
        if (!hasServer) await grants.removeWithoutDefinition(tenant, id);
        await store.remove(tenant, id);
      }
    },
  };
}

/** Null if the record cannot be decrypted or its definition is no longer valid. */
function openDraft(keyring: Keyring, record: DraftRecord): ServerDraft | null {
  const { id, tenant, userId, canonicalUrl, createdAt, expiresAt } = record;
  const definition = readDefinition(keyring, record);
  if (!definition) return null;
  const name = toDraftName(id);
  // Compiled under a neutral name, because the rules for server names reject draft names.
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

/** The dependencies of creating a server from a draft. */
export interface AdoptDraftParts {
  readonly drafts: Pick<ServerDrafts, 'findOwn' | 'consume' | 'end' | 'discard'>;
  readonly records: Pick<CredentialStore, 'find'>;
  readonly flows: Pick<OAuthFlowStore, 'removeByUser'>;
  readonly oauth: Pick<OAuthServices, 'isGrantForServer'>;
}

interface DraftMatch {
  readonly draft: ServerDraft;
  /** Whether the grant of the draft is valid for the server that is saved. */
  readonly isGrantReusable: boolean;
}

/**
 * Checks whether the grant of a draft is valid for the server that is saved: same user, canonical URL, issuer, client and
 * resource, discovered again. Undefined if the user has no such open draft.
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
  // The server will be saved under the id of the draft.
  return { draft, isGrantReusable: await oauth.isGrantForServer({ ...server, id: draft.id }, credential) };
}

/**
 * Creates a server, from the draft if its grant is reusable and no other request consumes it first. `consumeDraftId`
 * returns the id that the server then takes. The grant is bound to this id, so it is neither moved nor sealed again. A
 * grant that is not reused is revoked, and pending sign-ins on the draft are cancelled.
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
    // A consumed draft cannot be used again. Any other draft remains for the next attempt.
    if (draftMatch && consumedDraftId !== undefined) await ignoreErrors(parts.drafts.end(draftMatch.draft));
    throw error;
  }
}

/** Cancels pending sign-ins on the draft. Their users start again at the saved server. */
function removeFlows(
  { flows }: Pick<AdoptDraftParts, 'flows'>,
  { tenant, userId, id }: ServerDraft,
): Promise<unknown> {
  return flows.removeByUser(tenant, userId, id);
}

/** A failed cleanup must not fail the creation. The sweep repeats it. */
async function ignoreErrors(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}
