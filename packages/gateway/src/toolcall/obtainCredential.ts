import type { Random } from '@behalf/kernel';
import type { Credentials, SignInReason } from '../credentials/credentials.ts';
import type { Purse } from '../credentials/obo/oboTokens.ts';
import { principalKey } from '../principal/principal.ts';
import type { AppServer, UserServer } from '../registry/server.ts';
import type { UpstreamTarget } from '../upstream/target.ts';
import type { Inbound } from './call.ts';
import type { Allowed } from './checkAccess.ts';

/** A server together with what this caller presents to it. An app server presents its own, and takes nobody's. */
export type Ready =
  | { readonly server: Allowed<AppServer> }
  | {
      readonly server: Allowed<UserServer>;
      readonly holder: {
        readonly principal: string;
        readonly target: UpstreamTarget;
        readonly binding: string;
        readonly request?: string;
      };
    };

export type Obtained = { kind: 'ready'; ready: Ready } | { kind: 'sign_in_needed'; reason: SignInReason };

/** None, static, the user's variables; or the fact that they must sign in first. */
export async function obtainCredential(
  credentials: Credentials,
  server: Allowed<UserServer>,
  inbound: Inbound,
  random: Random,
  purse: Purse,
): Promise<Obtained> {
  const { principal, fields, request } = inbound;
  const obtained = await credentials.obtain(server, principal, fields, purse);
  if (obtained.kind === 'needs_reauth') return { kind: 'sign_in_needed', reason: obtained.reason };
  const { target, binding } = obtained.credential;
  const holder = {
    principal: principalKey(principal),
    target,
    binding,
    ...(server.requestScoped && { request: request ?? random.id() }),
  };
  return { kind: 'ready', ready: { server, holder } };
}
