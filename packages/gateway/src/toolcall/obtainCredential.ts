import type { Random } from '@behalf/kernel';
import type { Credentials } from '../credentials/credentials.ts';
import type { TokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import type { CredentialKey } from '../ports/index.ts';
import { principalKey } from '../principal/principal.ts';
import type { AppServer, UserServer } from '../registry/server.ts';
import type { AppBearer, UpstreamTarget } from '../upstream/target.ts';
import type { Inbound } from './inbound.ts';
import type { AllowedServer } from './checkAccess.ts';

/** A server together with what this caller presents to it. An app server presents its own, and takes nobody's. */
export type PreparedTarget =
  | { readonly server: AllowedServer<AppServer>; readonly bearer?: AppBearer }
  | {
      readonly server: AllowedServer<UserServer>;
      readonly holder: {
        readonly principal: string;
        readonly target: UpstreamTarget;
        readonly binding: string;
        readonly requestKey?: string;
      };
      /** Only one call at a time may be made with this credential. */
      readonly exclusiveKey?: CredentialKey | undefined;
      /** The label of what is presented, where it is one of the caller's own. */
      readonly credential?: string | undefined;
    };

/** None, static, the user's variables, their own token, or one in their name. */
export async function obtainCredential(
  credentials: Credentials,
  server: AllowedServer<UserServer>,
  inbound: Inbound,
  random: Random,
  budget: TokenRequestBudget,
): Promise<PreparedTarget> {
  const { principal, fields, request, credential } = inbound;
  const { target, binding, exclusiveKey, label } = await credentials.obtain(
    server,
    principal,
    fields,
    budget,
    {
      label: credential,
    },
  );
  const holder = {
    principal: principalKey(principal),
    target,
    binding,
    ...(server.requestScoped && { requestKey: request ?? random.id() }),
  };
  return { server, holder, exclusiveKey, credential: label };
}
