export { largeCatalog, type CatalogFixtureServer, type CatalogFixtureTool } from './largeCatalog.ts';
export { practice, questions, type Question } from './questions.ts';
