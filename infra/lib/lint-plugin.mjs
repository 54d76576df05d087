// Lint rules of this project.
const MIDDLEWARE = 'TSTypeAnnotation > TSTypeReference > Identifier[name=/^((Error)?RequestHandler|Router)$/]'

/**
 * Checks the exports of `.middleware.ts` files. dependency-cruiser checks their imports.
 *
 * @type {{ create: (context: { report: (problem: { node: object, message: string }) => void }) => Record<string, unknown> }}
 */
const exportsMiddleware = {
  create(context) {
    let exported = false
    const found = () => {
      exported = true
    }
    return {
      [`ExportNamedDeclaration > FunctionDeclaration > ${MIDDLEWARE}`]: found,
      [`ExportNamedDeclaration > VariableDeclaration > VariableDeclarator > Identifier > ${MIDDLEWARE}`]: found,
      /** @param {object} node */
      'Program:exit'(node) {
        if (!exported) {
          context.report({
            node,
            message: 'A .middleware.ts file exports Express middleware; a guard is a .guard.ts file.',
          })
        }
      },
    }
  },
}

export default { meta: { name: 'project' }, rules: { 'exports-middleware': exportsMiddleware } }
