import type { LoadFailure } from '../catalog/loadFromEachServer.ts';
import type { RoutedName } from './routeEndpoint.ts';

/**
 * What a prompt's name means at a server that cannot be listed. That its user must sign in there first is what the request
 * itself will say, in the best form that the client has; anything else is the answer.
 */
export function handleUnlistedServer({ absence, cause }: LoadFailure, routedName: RoutedName): RoutedName {
  if (absence.state === 'needs_authorization') return routedName;
  throw cause;
}
