import type { Path } from '@behalf/contracts';
import type { Settings } from '@behalf/settings';

/** Where the operator says that models are: open to the chat, also in private space. */
export function modelAddresses({ endpoints }: Settings): { path: Path; url: string }[] {
  return endpoints.custom.map(({ baseURL, position }) => ({
    path: ['endpoints', 'custom', position, 'baseURL'],
    url: baseURL,
  }));
}
