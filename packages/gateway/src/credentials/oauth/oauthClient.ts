import type { KeyObject } from 'node:crypto';
import type { HiddenText } from '@behalf/kernel';

/** How we prove at an authorization server that we are the client. */
export type ClientAuthentication =
  | { readonly method: 'none' }
  | { readonly method: 'client_secret_basic' | 'client_secret_post'; readonly secret: HiddenText }
  | {
      readonly method: 'private_key_jwt';
      readonly key: KeyObject;
      readonly alg: string;
      readonly kid?: string | undefined;
    };

/** Who we are at one authorization server, for one server. */
export interface OAuthClient {
  readonly clientId: string;
  /**
   * `configured`: the definition or the environment names it; never removed by us. `document`: a client ID metadata document
   * that we serve. `dynamic`: registered by us.
   */
  readonly source: 'configured' | 'document' | 'dynamic';
  readonly auth: ClientAuthentication;
}
