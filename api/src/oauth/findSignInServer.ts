import { draftPrefix } from '@behalf/contracts';
import { findServer, type AllowedServer, type UserPrincipal } from '@behalf/gateway';
import type { ServerSignInParts } from './signInParts.ts';

/** The server, or the draft of one, at which somebody signs in: by the name that stands in the address. */
export async function findSignInServer(
  parts: ServerSignInParts,
  principal: UserPrincipal,
  name: string,
): Promise<AllowedServer> {
  return name.startsWith(draftPrefix)
    ? parts.drafts.authorize(principal, name)
    : findServer(parts, principal, name);
}
