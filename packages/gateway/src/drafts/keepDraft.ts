import { userCredentialKey } from '../credentials/oauthTokens.ts';
import type { OAuthServices } from '../credentials/oauth/createOAuthServices.ts';
import type { CredentialStore, OAuthFlowStore } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { UserServer } from '../registry/server.ts';
import type { Draft } from './draft.ts';
import type { Drafts } from './drafts.ts';

/** What making a server of a draft needs. */
export interface KeepDraftParts {
  readonly drafts: Pick<Drafts, 'own' | 'take' | 'end' | 'drop'>;
  readonly records: Pick<CredentialStore, 'find'>;
  readonly flows: Pick<OAuthFlowStore, 'removeOf'>;
  readonly oauth: Pick<OAuthServices, 'isGrantFor'>;
}

/** The draft that somebody saves, and whether its sign-in fits what they save. */
export interface Keeping {
  readonly draft: Draft;
  readonly fits: boolean;
}

/**
 * Whether the sign-in of a draft is one for the server that is saved: the same user, canonical address, issuer, client and resource,
 * all of it found out anew. Undefined where there is no such draft of theirs, or its time is up.
 */
export async function keepDraft(
  { drafts, records, oauth }: KeepDraftParts,
  principal: UserPrincipal,
  draftId: string,
  server: UserServer,
): Promise<Keeping | undefined> {
  const draft = await drafts.own(principal, draftId);
  if (!draft) return undefined;
  const given = await records.find(userCredentialKey(draft.server, principal, 'oauth_code'));
  if (given?.status !== 'active' || given.canonicalUrl !== draft.canonicalUrl) return { draft, fits: false };
  // As it will be saved: under the id of the draft.
  return { draft, fits: await oauth.isGrantFor({ ...server, id: draft.id }, given) };
}

/**
 * Makes a server, of the draft where its sign-in fits and nobody else was faster. `takeId`: the id that the server gets then. What was
 * given is bound to that id, so nothing is moved, opened or sealed anew: there is one copy at every moment, and it belongs to the draft,
 * then to the server. What is not kept is ended, and no sign-in at the draft goes on.
 */
export async function ofDraft<T>(
  parts: Pick<KeepDraftParts, 'drafts' | 'flows'>,
  keeping: Keeping | undefined,
  make: (takeId: () => Promise<string | undefined>) => Promise<T>,
): Promise<{ readonly made: T; readonly isKept: boolean }> {
  let id: string | undefined;
  const takeId = async () => {
    if (keeping?.fits && (await parts.drafts.take(keeping.draft))) id = keeping.draft.id;
    return id;
  };
  try {
    const made = await make(takeId);
    if (keeping)
      await settled(id === undefined ? parts.drafts.drop(keeping.draft) : endFlows(parts, keeping.draft));
    return { made, isKept: id !== undefined };
  } catch (error) {
    // One that was taken for nothing is over. Any other can be saved again, with what was wrong put right.
    if (keeping && id !== undefined) await settled(parts.drafts.end(keeping.draft));
    throw error;
  }
}

/** Whoever is still on the way to the draft's callback begins anew, at the server. */
function endFlows({ flows }: Pick<KeepDraftParts, 'flows'>, { tenant, userId, id }: Draft): Promise<unknown> {
  return flows.removeOf(tenant, userId, id);
}

/** What fails here changes nothing of the server; the sweep ends what is left. */
async function settled(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}
