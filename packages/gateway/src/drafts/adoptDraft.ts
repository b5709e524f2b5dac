import { userCredentialKey } from '../credentials/oauthTokens.ts';
import type { OAuthServices } from '../credentials/oauth/createOAuthServices.ts';
import type { CredentialStore, OAuthFlowStore } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { UserServer } from '../registry/server.ts';
import type { ServerDraft } from './draft.ts';
import type { ServerDrafts } from './drafts.ts';

/** What making a server of a draft needs. */
export interface AdoptDraftParts {
  readonly drafts: Pick<ServerDrafts, 'findOwn' | 'consume' | 'end' | 'discard'>;
  readonly records: Pick<CredentialStore, 'find'>;
  readonly flows: Pick<OAuthFlowStore, 'removeByUser'>;
  readonly oauth: Pick<OAuthServices, 'isGrantForServer'>;
}

/** The draft that somebody saves, and whether its sign-in fits what they save. */
export interface DraftMatch {
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
