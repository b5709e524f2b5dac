import type { Challenge } from '../../../upstream/upstreamError.ts';
import type { DpopMode } from '../grantContext.ts';
import { SignInImpossible } from '../signInProblem.ts';
import type { AuthorizationServer } from './authorizationServer.ts';
import type { ProtectedResource } from './protectedResource.ts';

const ALGORITHM = 'ES256';

export interface Asking {
  readonly mode: DpopMode | undefined;
  readonly as: Pick<AuthorizationServer, 'proofAlgorithms'>;
  readonly published: Pick<ProtectedResource, 'wantsBound'> | null;
  readonly challenge: Pick<Challenge, 'scheme'> | undefined;
}

/**
 * Whether tokens for a server are bound to a key: as the operator says, else where the server asks for it, by its metadata or its
 * challenge, and its authorization server can. Throws where they have to be and cannot.
 */
export function bindsTokens({ mode = 'auto', as, published, challenge }: Asking): boolean {
  if (mode === 'off') return false;
  const { proofAlgorithms } = as;
  const can = proofAlgorithms?.includes(ALGORITHM) === true;
  if (mode === 'auto') return can && (published?.wantsBound === true || challenge?.scheme === 'dpop');
  // Who writes endpoints down has nobody who would say; then it is tried.
  if (!can && proofAlgorithms !== null) throw new SignInImpossible('dpop_unsupported');
  return true;
}
