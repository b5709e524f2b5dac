/** The pages of the administration in the order of their tabs; the first one stands at /admin itself. */
export const sections = ['overview', 'roles', 'users', 'audit', 'connections', 'config'] as const;
export type AdminSection = (typeof sections)[number];

/** Of what concerns the gateway as a whole. */
export const operatorSections: ReadonlySet<AdminSection> = new Set(['config']);

/** The page that an address names; undefined for one that there is not. */
export function findSection(name: string | undefined): AdminSection | undefined {
  return name === undefined ? 'overview' : sections.find((section) => section === name);
}

export function sectionPath(section: AdminSection): string {
  return section === 'overview' ? '/admin' : `/admin/${section}`;
}
