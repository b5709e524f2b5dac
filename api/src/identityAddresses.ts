import type { Path } from '@behalf/contracts';
import type { Settings } from '@behalf/settings';

/** Where the operator says that tokens are exchanged: open to the identity client, also in private space. */
export function identityAddresses({ identityProviders }: Settings): { path: Path; url: string }[] {
  return identityProviders.flatMap(({ name, issuer, authority, tokenEndpoint, resourceServers = [] }) => {
    const path = ['identityProviders', name];
    return [
      ...said(path, { issuer, authority, tokenEndpoint }),
      ...resourceServers.flatMap(({ issuer, tokenEndpoint }, index) =>
        said([...path, 'resourceServers', index], { issuer, tokenEndpoint }),
      ),
    ];
  });
}

function said(
  path: Path,
  places: Readonly<Record<string, string | undefined>>,
): { path: Path; url: string }[] {
  return Object.entries(places).flatMap(([key, url]) =>
    url === undefined ? [] : [{ path: [...path, key], url }],
  );
}
