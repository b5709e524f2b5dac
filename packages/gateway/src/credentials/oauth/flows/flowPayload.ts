import type { Keyring } from '@behalf/kernel';
import { toFlowSealContext, type OAuthFlowRecord } from '../../../ports/index.ts';
import type { OAuthClient } from '../oauthClient.ts';

export type ProbeResult = 'ok' | 'unverified' | 'unreachable' | 'refused';

/** What a sign-in goes by, from its start to its end. No token is ever in it. */
export interface FlowPayload {
  /** Of the definition that it was begun for. */
  readonly definitionRevision: string;
  readonly label: string;
  readonly returnTo: string;
  readonly canonicalUrl: string;
  readonly issuer: string;
  readonly hasIssuerIdentifier: boolean;
  readonly isIssParameterSupported: boolean;
  readonly endpoints: {
    readonly authorization: string;
    readonly token: string;
    readonly revocation: string | null;
    readonly jwks: string | null;
  };
  readonly metadataFetchedAt: number;
  readonly clientId: string;
  readonly clientSource: OAuthClient['source'];
  /** How it proves itself: the metadata that decided so is not read again. */
  readonly clientAuth: OAuthClient['auth']['method'];
  readonly redirectUri: string;
  readonly resource: string | null;
  readonly scopes: string;
  /** What the authorization server has to be shown: JSON text. */
  readonly claims?: string | undefined;
  /** Users are told first whose tokens go where. */
  readonly requiresConfirmation: boolean;
  readonly baseGeneration: number;
  /** Tokens are bound to a key of their own (RFC 9449). */
  readonly usesDpop?: boolean;
  /** Of the last time that the browser left. */
  readonly codeVerifier?: string;
  readonly nonce?: string;
  /** The key, as a private JWK: sealed here until the grant has it. */
  readonly dpopKey?: string;
  /** How the server took the new token. */
  readonly probeResult?: ProbeResult;
}

type FlowKey = Pick<OAuthFlowRecord, 'tenant' | 'userId' | 'serverId' | 'id'>;

export function sealPayload(keyring: Keyring, key: FlowKey, payload: FlowPayload): string {
  return keyring.seal(JSON.stringify(payload), toFlowSealContext(key));
}

/** Throws where it was sealed for another flow, user or server. */
export function openPayload(keyring: Keyring, flow: OAuthFlowRecord): FlowPayload {
  return JSON.parse(keyring.open(flow.sealed, toFlowSealContext(flow))) as FlowPayload;
}
