import type { Path } from '@behalf/contracts';
import type { Settings } from '@behalf/settings';

/** Where the operator says that tokens are exchanged: open to the identity client, also in private space. */
export function identityAddresses({ identityProviders }: Settings): { path: Path; url: string }[] {
  return identityProviders.flatMap(({ name, issuer, authority, tokenEndpoint }) =>
    Object.entries({ issuer, authority, tokenEndpoint }).flatMap(([key, url]) =>
      url === undefined ? [] : [{ path: ['identityProviders', name, key], url }],
    ),
  );
}
