import { createFakeClock } from '@behalf/testkit';
import { createCatalog, type CatalogLimits, type ToolList } from '../src/tools/catalog.ts';
import type { ItemList } from '../src/upstream/listAll.ts';
import type { ServerSnapshot } from '../src/definitions/definition.ts';

/** A server as the catalog knows it. */
export function createServer(scope: 'app' | 'user', id = 'srv', revision = '1'): ServerSnapshot {
  const settings = { normalizedName: id };
  return {
    id,
    tenant: 'default',
    name: id,
    source: 'yaml',
    revision,
    scope,
    settings,
  } as unknown as ServerSnapshot;
}
export const createListed = (names: string, overrides: Partial<ItemList> = {}): ItemList => ({
  items: names.split(' ').flatMap((name) => (name === '' ? [] : [{ name }])),
  complete: true,
  era: 'legacy',
  ...overrides,
});
export const incomplete = { complete: false, incomplete: 'failed' } as const;
export const joinToolNames = (list: ToolList | undefined) => list?.tools.map(({ name }) => name).join(' ');

/** A listing that lands when the test says so. */
export function createPendingLists() {
  const pendingLists: {
    resolve: (names: string, overrides?: Partial<ItemList>) => void;
    fail: (error: Error) => void;
  }[] = [];
  const startList = () =>
    new Promise<ItemList>((resolve, reject) => {
      pendingLists.push({
        resolve: (names, overrides) => resolve(createListed(names, overrides)),
        fail: reject,
      });
    });
  return { pendingLists, startList };
}

export function createCatalogRig(limits?: Partial<CatalogLimits>) {
  const clock = createFakeClock();
  const catalog = createCatalog({ clock, log: () => undefined, ...(limits && { limits }) });
  const { signal } = new AbortController();
  let loadCount = 0;
  /** Loads with a server that answers at once, or fails. */
  const load = (
    server: ServerSnapshot,
    holder: string,
    listed: ItemList | Error,
    refresh: boolean | 'if-old' = false,
  ): Promise<ToolList> => {
    const list = async () => {
      loadCount += 1;
      if (listed instanceof Error) throw listed;
      return listed;
    };
    return catalog.load(server, holder, list, { signal, refresh });
  };
  return { clock, catalog, signal, load, loadCount: () => loadCount };
}

export const appServer = createServer('app');
export const userServer = createServer('user');
