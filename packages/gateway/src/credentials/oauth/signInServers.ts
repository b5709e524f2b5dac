import type { TemplateValues } from '@behalf/settings';
import type { ServerSnapshot } from '../../registry/server.ts';
import { toSignInTarget, type SignInTarget } from './signInTarget.ts';

/** Servers, and what their holders fill in: sign-ins ask for both anew each time. */
export interface SignInServers {
  /** As it is now, for one tenant. One that nobody saved yet has to be looked up. */
  get(tenant: string, serverId: string): ServerSnapshot | undefined | Promise<ServerSnapshot | undefined>;
  /** What a holder (`user:<id>`, or `@app`) has entered. Rejects while nobody can say. */
  readHolderValues(server: ServerSnapshot, tenant: string, holder: string): Promise<TemplateValues>;
}

/** Undefined where something of it cannot be filled in. */
export async function resolveSignInTarget(
  servers: Pick<SignInServers, 'readHolderValues'>,
  server: ServerSnapshot,
  { tenant, holder }: { readonly tenant: string; readonly holder: string },
): Promise<SignInTarget | undefined> {
  return toSignInTarget(server, await servers.readHolderValues(server, tenant, holder));
}
