import { createFakeClock } from '@behalf/testkit';
import { createCatalog, type CatalogLimits, type ToolList } from '../src/catalog/catalog.ts';
import type { ItemList } from '../src/catalog/listAll.ts';
import type { ServerSnapshot } from '../src/registry/server.ts';

/** A server as the catalog knows it. */
export function server(scope: 'app' | 'user', id = 'srv', revision = '1'): ServerSnapshot {
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
export const listed = (names: string, rest: Partial<ItemList> = {}): ItemList => ({
  items: names.split(' ').flatMap((name) => (name === '' ? [] : [{ name }])),
  complete: true,
  era: 'legacy',
  ...rest,
});
export const incomplete = { complete: false, incomplete: 'failed' } as const;
export const namesIn = (list: ToolList | undefined) => list?.tools.map(({ name }) => name).join(' ');

/** A listing that lands when the test says so. */
export function held() {
  const asked: { land: (names: string, rest?: Partial<ItemList>) => void; fail: (error: Error) => void }[] =
    [];
  const list = () =>
    new Promise<ItemList>((resolve, reject) => {
      asked.push({ land: (names, rest) => resolve(listed(names, rest)), fail: reject });
    });
  return { asked, list };
}

export function setUp(limits?: Partial<CatalogLimits>) {
  const clock = createFakeClock();
  const catalog = createCatalog({ clock, log: () => undefined, ...(limits && { limits }) });
  const { signal } = new AbortController();
  let asked = 0;
  /** Loads with a server that answers at once, or fails. */
  const load = (
    of: ServerSnapshot,
    holder: string,
    answer: ItemList | Error,
    refresh: boolean | 'if-old' = false,
  ): Promise<ToolList> => {
    const list = async () => {
      asked += 1;
      if (answer instanceof Error) throw answer;
      return answer;
    };
    return catalog.load(of, holder, list, { signal, refresh });
  };
  return { clock, catalog, signal, load, asked: () => asked };
}

export const app = server('app');
export const own = server('user');
