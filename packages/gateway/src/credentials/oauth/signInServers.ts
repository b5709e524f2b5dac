import type { TemplateValues } from '@behalf/settings';
import type { ServerSnapshot } from '../../registry/server.ts';
import { signInTargetOf, type SignInTarget } from './signInTarget.ts';

/** Servers, and what their holders fill in: sign-ins ask for both anew each time. */
export interface SignInServers {
  /** As it is now, for one tenant. One that nobody saved yet has to be looked up. */
  get(tenant: string, serverId: string): ServerSnapshot | undefined | Promise<ServerSnapshot | undefined>;
  /** What a holder (`user:<id>`, or `@app`) has entered. Rejects while nobody can say. */
  valuesOf(server: ServerSnapshot, tenant: string, holder: string): Promise<TemplateValues>;
}

/** Undefined where something of it cannot be filled in. */
export async function targetFor(
  servers: Pick<SignInServers, 'valuesOf'>,
  server: ServerSnapshot,
  { tenant, holder }: { readonly tenant: string; readonly holder: string },
): Promise<SignInTarget | undefined> {
  return signInTargetOf(server, await servers.valuesOf(server, tenant, holder));
}
