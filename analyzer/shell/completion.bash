# bash completion for fabtap

_fabtap() {
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]}
	local job="--map --read --count --topology --key --map-format --allow-both-pkeys --flows --workers --link-gbps --rd --roce-port --no-icrc --json --output --help"
	local words

	case $previous in
	--rd) words="iba dc opaque" ;;
	--map-format) words="tapmap opensm" ;;
	-o | --output) words="text json" ;;
	-T) words="text json fields" ;;
	--where) words="tenant= host= address= qp= pkey= rule= verdict= vlan= vni= transport=" ;;
	--sort) words="packets bytes messages retransmitted fabric_lost mirror_lost naks cnps ce_marked tenant rule" ;;
	-e) words=$(fabtap decode --list-fields 2>/dev/null | cut -d' ' -f1) ;;
	esac
	if [[ -z $words && $COMP_CWORD -eq 1 ]]; then
		words="audit decode flows explain map sources probe help --version --help"
	elif [[ -z $words && $verb == map && $COMP_CWORD -eq 2 ]]; then
		words="check show ask lint diff convert"
	elif [[ -z $words && $verb == probe && $COMP_CWORD -eq 2 ]]; then
		words="passive"
	elif [[ -z $words && $verb == help ]]; then
		words="audit decode flows explain map sources probe help"
	elif [[ -z $words && $word == -* ]]; then
		case $verb in
		audit) words="$job --write --min-coverage" ;;
		decode) words="$job -T -e --list-fields" ;;
		flows) words="$job --where --sort --top" ;;
		explain) words=$job ;;
		map) words="--map-format --topology --key --allow-both-pkeys --json --output --at --port --pair --help" ;;
		probe) words="--for --one-way --switch-rx --root --buffer --allow-tx-queue --verbose --json --help" ;;
		sources) words="--json --install-extcap --help" ;;
		esac
	fi
	if [[ -n $words ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -o filenames -F _fabtap fabtap
