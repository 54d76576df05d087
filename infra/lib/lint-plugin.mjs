// What the linter's own rules do not know of this project.
const MIDDLEWARE = 'TSTypeAnnotation > TSTypeReference > Identifier[name=/^((Error)?RequestHandler|Router)$/]'

/**
 * A suffix is a promise: dependency-cruiser checks what a `.middleware.ts` file imports, this what it exports.
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
