import type { DiscoverToolsView } from '@behalf/contracts';
import type { StartedFlow } from '../credentials/oauth/flows/startFlow.ts';
import { SignInImpossible } from '../credentials/oauth/signInProblem.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Challenge } from '../upstream/upstreamError.ts';
import { toDraftName, type ServerDraft } from './draft.ts';
import type { DiscoverParts } from './parts.ts';

export interface DiscoveryResult {
  readonly view: DiscoverToolsView;
  /** The sign-in that was begun, for the cookie of the browser that asked. */
  readonly flow?: StartedFlow;
}

export interface SignInOffer {
  readonly draft: ServerDraft;
  /** Made for this question: without a sign-in it is of no use, and goes at once. */
  readonly isNew: boolean;
  /** What the server said when it refused. */
  readonly challenge?: Challenge | undefined;
  readonly returnTo?: string | undefined;
}

/**
 * A sign-in at a server that refused us, on a draft of it. All that guards sign-ins at saved servers guards this one: it is the same
 * code, for a server that a user chose.
 */
export async function offerSignIn(
  parts: Pick<DiscoverParts, 'drafts' | 'flows'>,
  principal: UserPrincipal,
  { draft, isNew, challenge, returnTo }: SignInOffer,
): Promise<DiscoveryResult> {
  try {
    const server = await parts.drafts.authorize(principal, toDraftName(draft.id));
    const flow = await parts.flows.start(server, principal, {
      ...{ returnTo, challenge },
      // A program begins it for its user, who then goes on in a browser: that one is asked.
      bindsBrowser: principal.authentication.via === 'session',
    });
    return { view: toAuthorizationView(draft, flow), flow };
  } catch (error) {
    if (isNew) await parts.drafts.discard(draft);
    if (!(error instanceof SignInImpossible)) throw error;
    return { view: { outcome: 'no_oauth_metadata', reason: error.problem } };
  }
}

function toAuthorizationView({ id, expiresAt }: ServerDraft, { flow }: StartedFlow): DiscoverToolsView {
  return {
    outcome: 'authorization_required',
    draftId: id,
    flowId: flow.flowId,
    connectUrl: flow.connectUrl,
    expiresAt,
    flowExpiresAt: Math.min(flow.expiresAt, expiresAt),
  };
}
