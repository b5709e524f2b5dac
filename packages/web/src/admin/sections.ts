/** Sections in the order of their tabs. The first one is at /admin. */
export const sections = ['overview', 'roles', 'users', 'audit', 'connections', 'config'] as const;
export type AdminSection = (typeof sections)[number];

/** Sections for operators only, because they concern all tenants. */
export const operatorSections: ReadonlySet<AdminSection> = new Set(['config']);

/** Returns the section of a path segment, or undefined for an unknown segment. */
export function findSection(name: string | undefined): AdminSection | undefined {
  return name === undefined ? 'overview' : sections.find((section) => section === name);
}

export function sectionPath(section: AdminSection): string {
  return section === 'overview' ? '/admin' : `/admin/${section}`;
}
