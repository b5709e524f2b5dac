import { SealError, type Clock, type Keyring, type SealContext } from '@behalf/kernel';
import type { OpenIdSettings } from './openIdSettings.ts';

/** What the browser keeps for us while its user is at the provider. */
export interface LoginFlow {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly returnTo: string;
  /** Whether the provider was asked to have more proven than usual. */
  readonly hasClaims: boolean;
  readonly expiresAt: number;
  /** For whom the tokens are; absent: for the browser. */
  readonly grant?: FlowGrant | undefined;
}

/** What a user is about to grant to a client: its tokens are its own, and nobody else exchanges them. */
export interface FlowGrant {
  /** The hash of the session that it will be. */
  readonly session: string;
  readonly clientId: string;
}

export interface LoginFlows {
  seal(flow: LoginFlow): string;
  /** Null when it is not one of ours, or too old. */
  open(sealed: string): LoginFlow | null;
}

/** Sealed, so that a browser can neither read its proof key nor bring a flow that this gateway did not begin. */
export function createLoginFlows(parts: {
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly settings: Pick<OpenIdSettings, 'issuer' | 'clientId'>;
}): LoginFlows {
  const { keyring, clock, settings } = parts;
  const context: SealContext = {
    tenant: '-',
    principal: '-',
    server: '-',
    kind: 'openid-login',
    field: 'flow',
    binding: [settings.issuer, settings.clientId ?? ''],
  };
  return {
    seal: (flow) => keyring.seal(JSON.stringify(flow), context),
    open(sealed) {
      try {
        const flow = JSON.parse(keyring.open(sealed, context)) as LoginFlow;
        return clock.now() < flow.expiresAt ? flow : null;
      } catch (error) {
        // Not an alarm: anybody can send a cookie.
        if (error instanceof SealError) return null;
        throw error;
      }
    },
  };
}
