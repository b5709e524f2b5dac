export { largeCatalog, type CatalogFixtureServer, type CatalogFixtureTool } from './largeCatalog.ts';
export { tuningQueries, evaluationQueries, type CatalogQuery } from './catalogQueries.ts';
