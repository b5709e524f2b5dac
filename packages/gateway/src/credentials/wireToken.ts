import type { WireToken } from '../upstream/target.ts';
import type { Prover } from './dpop/dpop.ts';

/** An access token, and what proves the key it is bound to, where it is. */
export interface TokenWithProver {
  readonly accessToken: string;
  readonly prover?: Prover | undefined;
}

/** As it is presented: one that is bound to a key is never a mere text. */
export function toWireToken({ accessToken, prover }: TokenWithProver): WireToken {
  if (!prover) return accessToken;
  return {
    text: accessToken,
    createProof: (method, url) => prover.createProof(method, url, accessToken),
    recordNonce: (url, nonce, sent) => prover.recordNonce(url, nonce, sent),
  };
}
