import { credentialHolder } from '../credentials/credentialHolder.ts';
import { withoutCredentials } from '../reinit/withoutCredentials.ts';
import { renderTarget } from '../registry/renderTarget.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import type { DiagnosisContext, DiagnoseParts } from './parts.ts';

export type DiagnosisTarget = RemoteTarget | 'process' | 'not_known';

/**
 * Where calls of this user go, without anything that they present there: no key, no token, no value of theirs but in the address
 * itself. `not_known`: a value in the address is missing, or comes with a chat.
 */
export async function resolveUnauthenticatedTarget(
  { signIn }: Pick<DiagnoseParts, 'signIn'>,
  { server, principal }: DiagnosisContext,
): Promise<DiagnosisTarget> {
  const { settings, audience } = server;
  if (settings.type === 'stdio') return 'process';
  const { apiKey: _key, ...rest } = settings;
  const unauthenticated = withoutCredentials(settings) ?? { ...rest, headers: {} };
  const values = await signIn.servers.readHolderValues(server, principal.tenant, credentialHolder(principal));
  const rendered = renderTarget(unauthenticated, values, { audience, inheritedEnv: {} });
  return rendered.ok && rendered.target.type !== 'stdio' ? rendered.target : 'not_known';
}
