import type { Failure } from '../catalog/eachServer.ts';
import type { Routed } from './routeEndpoint.ts';

/**
 * What a prompt's name means at a server that cannot be listed. That its user must sign in there first is what the request
 * itself will say, in the best form that the client has; anything else is the answer.
 */
export function unlisted({ absence, cause }: Failure, routed: Routed): Routed {
  if (absence.state === 'needs_authorization') return routed;
  throw cause;
}
