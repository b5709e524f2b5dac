import { createFinding } from '@behalf/contracts';
import { isUnencryptedRemote, NO_PROVIDER, type ServerSettings } from '@behalf/settings';
import type { OboCandidate } from '../access/oboTargets.ts';
import { listDeclaredVariables, needsOAuth } from '../registry/scope.ts';
import type { ConfigureParts } from './parts.ts';
import { createConfigError } from './readInput.ts';

type TargetParts = Pick<ConfigureParts, 'oboTargets' | 'isPlainHttpAllowed'>;

/**
 * Whether what users bring may go where this definition leads. Asked before anything is stored or opened; what is
 * exchanged is asked about again before each exchange, because the operator may have changed their mind since.
 */
export function requireSafeTarget(
  { oboTargets, isPlainHttpAllowed }: TargetParts,
  server: OboCandidate,
  { isUntrustedAddress }: { readonly isUntrustedAddress: boolean },
): void {
  const problem = oboTargets.findProblem(server);
  // Without a provider nothing can be exchanged yet. The definition may wait for one.
  if (problem && problem.code !== NO_PROVIDER) throw createConfigError([problem]);
  const address =
    isUntrustedAddress && sendsUserValues(server.settings) ? fillSampleValues(server.settings) : undefined;
  if (address === undefined || !isUnencryptedRemote(address) || isPlainHttpAllowed(address)) return;
  throw createConfigError([
    createFinding(
      ['url'],
      'plain_http',
      'must use https: over http, user values and tokens could be read in transit',
      'use https, or have the operator list it with http:// in mcpSettings.allowedDomains',
    ),
  ]);
}

function sendsUserValues(settings: ServerSettings): boolean {
  return listDeclaredVariables(settings).length > 0 || needsOAuth(settings);
}

/** With a word in the place of what users choose: none of it decides about the scheme. */
function fillSampleValues(settings: ServerSettings): string | undefined {
  if (settings.type === 'stdio') return undefined;
  return settings.url.map((part) => (part.kind === 'literal' ? part.text : 'value')).join('');
}
