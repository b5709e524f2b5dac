import { createHash } from 'node:crypto';
import type { Random } from '@behalf/kernel';
import type { AllowedServer } from '../access/allowedServer.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { TokenRequestBudget } from '../credentials/obo/bearer.ts';
import type { CredentialKey } from '../ports/index.ts';
import { principalKey } from '../principal/principal.ts';
import type { AppServer, UserServer } from '../servers/definition.ts';
import type { AppBearer, UpstreamTarget } from '../upstream/target.ts';
import type { Inbound } from './inbound.ts';

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

/**
 * Where a call leads, every placeholder filled in, as a short text that says nothing of it. Not how: a timeout, a header or another
 * token change nothing about whose a thing there is.
 */
export function fingerprintTarget(prepared: PreparedTarget): string {
  const target = 'holder' in prepared ? prepared.holder.target : prepared.server.target;
  const identity =
    target.type === 'stdio'
      ? [target.type, target.command, target.args, target.cwd ?? null]
      : [target.type, target.url];
  return createHash('sha256').update(JSON.stringify(identity)).digest('base64url').slice(0, 22);
}
