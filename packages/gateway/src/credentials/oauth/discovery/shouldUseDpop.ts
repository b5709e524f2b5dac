import type { Challenge } from '../../../upstream/upstreamError.ts';
import type { DpopMode } from '../grantContext.ts';
import { SignInImpossible } from '../signInProblem.ts';
import type { AuthorizationServerMetadata } from './authorizationServerMetadata.ts';
import type { ProtectedResource } from './protectedResource.ts';

const DPOP_ALGORITHM = 'ES256';

export interface DpopInput {
  readonly mode: DpopMode | undefined;
  readonly asMetadata: Pick<AuthorizationServerMetadata, 'dpopAlgorithms'>;
  readonly published: Pick<ProtectedResource, 'requiresDpop'> | null;
  readonly challenge: Pick<Challenge, 'scheme'> | undefined;
}

/**
 * Whether tokens for a server are bound to a key: as the operator says, else where the server asks for it, by its metadata or its
 * challenge, and its authorization server can. Throws where they have to be and cannot.
 */
export function shouldUseDpop({ mode = 'auto', asMetadata, published, challenge }: DpopInput): boolean {
  if (mode === 'off') return false;
  const { dpopAlgorithms } = asMetadata;
  const canUseDpop = dpopAlgorithms?.includes(DPOP_ALGORITHM) === true;
  if (mode === 'auto')
    return canUseDpop && (published?.requiresDpop === true || challenge?.scheme === 'dpop');
  // Who writes endpoints down has nobody who would say; then it is tried.
  if (!canUseDpop && dpopAlgorithms !== null) throw new SignInImpossible('dpop_unsupported');
  return true;
}
