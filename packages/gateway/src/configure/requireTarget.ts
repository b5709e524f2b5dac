import { finding } from '@behalf/contracts';
import { isReadable, NO_PROVIDER, type ServerSettings } from '@behalf/settings';
import type { OboCandidate } from '../access/oboTargets.ts';
import { declaredVariables, needsOAuth } from '../registry/scope.ts';
import type { ConfigureParts } from './parts.ts';
import { invalid } from './readInput.ts';

type TargetParts = Pick<ConfigureParts, 'oboTargets' | 'declaresHttp'>;

/**
 * Whether what users bring may go where this definition leads. Asked before anything is stored or opened; what is
 * exchanged is asked about again before each exchange, because the operator may have changed their mind since.
 */
export function requireTarget(
  { oboTargets, declaresHttp }: TargetParts,
  server: OboCandidate,
  { isElsewhere }: { readonly isElsewhere: boolean },
): void {
  const problem = oboTargets.problemOf(server);
  // Without a provider nothing can be exchanged yet. The definition may wait for one.
  if (problem && problem.code !== NO_PROVIDER) throw invalid([problem]);
  const address = isElsewhere && carriesValues(server.settings) ? addressOf(server.settings) : undefined;
  if (address === undefined || !isReadable(address) || declaresHttp(address)) return;
  throw invalid([
    finding(
      ['url'],
      'plain_http',
      'must be https: over http everybody on the way could read what users enter or are given',
      'use https, or have the operator list it with http:// in mcpSettings.allowedDomains',
    ),
  ]);
}

function carriesValues(settings: ServerSettings): boolean {
  return declaredVariables(settings).length > 0 || needsOAuth(settings);
}

/** With a word in the place of what users choose: none of it decides about the scheme. */
function addressOf(settings: ServerSettings): string | undefined {
  if (settings.type === 'stdio') return undefined;
  return settings.url.map((part) => (part.kind === 'literal' ? part.text : 'value')).join('');
}
